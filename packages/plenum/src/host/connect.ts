// `connect`: from what a person names (a server, a URL, a command, a target of one's own) to a client. It loads what it needs
// when it is called: who only serves pays nothing for it.
import type { Client } from "../client/client.ts";
import type { ClientOptions } from "../client/options.ts";
import type { Target } from "../jsonrpc/channel.ts";
import { isObject } from "../jsonrpc/message.ts";
import type { Endpoint } from "../protocol/endpoint.ts";
import type { HttpTargetOptions } from "../transport/http/client.ts";
import type { StdioTargetOptions } from "../transport/stdio/client.ts";
import { quote } from "../util/quote.ts";

/**
 * A server in this process; a URL, alone or with what is needed to get there; a command line, or a command with its
 * arguments, started as a child; or a Target of your own.
 */
export type ConnectTarget = Endpoint | string | URL | HttpTargetOptions | StdioTargetOptions | Target;

/**
 * Connects to a server, whatever revision it speaks. A command is started without a shell, with few variables of this
 * process's environment. Throws McpError when there is no connection, and a TypeError for a target that is none.
 */
export async function connect(target: ConnectTarget, options: ClientOptions = {}): Promise<Client> {
  if (!isObject(options)) throw new TypeError("connect: the options are no object");
  const [{ createClient }, opened] = await Promise.all([import("../client/client.ts"), toTarget(target)]);
  return createClient(opened, options);
}

async function toTarget(target: ConnectTarget): Promise<Target> {
  if (typeof target === "string") {
    if (/^[a-z][a-z\d+.-]*:\/\//i.test(target)) return toHttp({ url: target });
    assertNoUrl(target);
    const { parseCommand } = await import("#stdio");
    return toTarget(parseCommand(target));
  }
  if (target instanceof URL) return toHttp({ url: target });
  if (isObject(target)) {
    if (typeof target.open === "function") return target as unknown as Target;
    if (typeof target.command === "string") {
      const { stdioTarget } = await import("#stdio");
      return stdioTarget(target as unknown as StdioTargetOptions);
    }
    if ("url" in target) return toHttp(target as unknown as HttpTargetOptions);
    if (typeof target.call === "function" && typeof target.watch === "function") {
      const { memoryTarget } = await import("../transport/memory/target.ts");
      return memoryTarget(target as unknown as Endpoint);
    }
  }
  throw new TypeError(
    `connect takes a server, a URL, a command line, { url, headers, fetch }, { command, args, env, cwd } or a Target, and not ${describe(target)}`,
  );
}

/** A URL without its scheme, or with half of it, would be taken for a program. Its query may be secret, and is not shown. */
function assertNoUrl(text: string): void {
  const isAddress = /^([\w.-]+|\[[\da-f:.]+\]):\d+([/?]\S*)?$/i.test(text);
  const url = isAddress ? `http://${text}` : text;
  if (!(isAddress || /^https?:\S+$/i.test(text)) || !URL.canParse(url)) return;
  const { origin, pathname } = new URL(url);
  throw new TypeError(`connect: a URL begins with its scheme and two slashes: did you mean "${origin}${pathname}"?`);
}

async function toHttp(options: HttpTargetOptions): Promise<Target> {
  const { httpTarget } = await import("../transport/http/client.ts");
  return httpTarget(options);
}

/** What was given instead, in words. */
function describe(given: unknown): string {
  if (given instanceof Promise) return "a promise: await it first";
  if (typeof given === "function") return "a function: call it first, if it makes a server";
  if (Array.isArray(given)) return "a list: give { command, args }";
  if (!isObject(given)) return String(given);
  return `an object with ${
    Object.keys(given)
      .slice(0, 10)
      .map((key) => quote(key))
      .join(", ") || "nothing in it"
  }`;
}
