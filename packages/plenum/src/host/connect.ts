// `connect`: from what a person names (a server, a URL, a command, a target of one's own) to a client. It loads what it needs
// when it is called: who only serves pays nothing for it.
import type { Client } from "../client/client.ts";
import type { ClientOptions } from "../client/options.ts";
import type { Target } from "../jsonrpc/channel.ts";
import type { Endpoint } from "../protocol/endpoint.ts";
import type { HttpAuth, HttpTargetOptions } from "../transport/http/client.ts";
import type { StdioTargetOptions } from "../transport/stdio/client.ts";

/**
 * A server in this process; a URL, alone or with what is needed to get there; a command line, or a command with its
 * arguments, started as a child; or a Target of your own.
 */
export type ConnectTarget = Endpoint | string | URL | HttpTargetOptions | StdioTargetOptions | Target;

export interface ConnectOptions extends ClientOptions {
  /**
   * Gives leave, where the server at a URL wants to see some: `oauth` of plenum/auth/client, or your own. With it
   * `connectTimeoutMs` and `probeTimeoutMs` are 360 000 unless they are given: a user may have to log in.
   */
  readonly auth?: HttpAuth | undefined;
}

/**
 * Connects to a server, whatever revision it speaks. A command is started without a shell, with few variables of this
 * process's environment. Throws McpError when there is no connection, and a TypeError for a target that is none.
 */
export function connect(target: string | URL | HttpTargetOptions, options?: ConnectOptions): Promise<Client>;
export function connect(target: ConnectTarget, options?: ClientOptions): Promise<Client>;
export async function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<Client> {
  if (hasAuth(target) || hasAuth(options)) {
    const { withAuth } = await import("./with-auth.ts");
    [target, options] = withAuth(target, options);
  }
  const [{ createClient }, opened] = await Promise.all([import("../client/client.ts"), toTarget(target)]);
  return createClient(opened, options);
}

function hasAuth(value: unknown): boolean {
  return typeof value === "object" && value !== null && "auth" in value;
}

async function toTarget(target: ConnectTarget): Promise<Target> {
  if (typeof target === "string") {
    if (/^[a-z][a-z\d+.-]*:\/\//i.test(target)) return toHttp({ url: target });
    const [{ parseCommand }, { assertNoUrl }] = await Promise.all([import("#stdio"), import("./no-target.ts")]);
    assertNoUrl(target);
    return toTarget(parseCommand(target));
  }
  if (target instanceof URL) return toHttp({ url: target });
  if (typeof target === "object" && target) {
    if ("open" in target && typeof target.open === "function") return target;
    if ("command" in target && typeof target.command === "string") {
      const { stdioTarget } = await import("#stdio");
      return stdioTarget(target);
    }
    if ("url" in target) return toHttp(target);
    if ("call" in target && typeof target.call === "function" && typeof target.watch === "function") {
      const { memoryTarget } = await import("../transport/memory/target.ts");
      return memoryTarget(target);
    }
  }
  const { toNoTarget } = await import("./no-target.ts");
  throw toNoTarget(target);
}

async function toHttp(options: HttpTargetOptions): Promise<Target> {
  const { httpTarget } = await import("../transport/http/client.ts");
  return httpTarget(options);
}
