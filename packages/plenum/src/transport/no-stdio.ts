// What stands in for stdio where no process can be started: browsers, Workers. The package's `imports` choose between the
// two, so that `connect` can be bundled for either.
import type { Target } from "../jsonrpc/channel.ts";

function refuse(): never {
  throw new TypeError("connect: a command can be started in Node, Bun or Deno only");
}

export function parseCommand(_line: string): { command: string; args: string[] } {
  return refuse();
}

export function stdioTarget(_options: object): Target {
  return refuse();
}
