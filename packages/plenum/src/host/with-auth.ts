// What gives leave, beside a target or in it: where it goes, and what a client does otherwise for its sake. Loaded by who has one.
import type { ClientOptions } from "../client/options.ts";
import { isObject } from "../jsonrpc/message.ts";
import type { HttpAuth, HttpTargetOptions } from "../transport/http/client.ts";

/** How long a user may take who has to log in, and the server after that. */
const loginMs = 360_000;

/** Throws a TypeError for a target that is reached in another way than by a URL: nobody there would ask for it. */
export function withAuth<T>(
  target: T,
  { auth: beside, ...options }: ClientOptions & { readonly auth?: HttpAuth | undefined },
): [T | HttpTargetOptions, ClientOptions] {
  const at = toHttpOptions(target);
  if (beside !== undefined && !at) throw toNoUrl(target);
  if (beside !== undefined && at?.auth !== undefined)
    throw new TypeError("connect: auth is given twice, beside the url and among the options");
  const auth = beside === undefined ? at?.auth : beside;
  if (!at || auth === undefined) return [target, options];
  const extensions = { ...auth?.extensions, ...options.extensions };
  const isAny = Object.keys(extensions).length > 0;
  return [
    { ...at, auth },
    { connectTimeoutMs: loginMs, ...options, ...(isAny && { extensions }) },
  ];
}

function toHttpOptions(target: unknown): HttpTargetOptions | undefined {
  if (target instanceof URL || (typeof target === "string" && /^[^\s/]+:\/\//.test(target))) return { url: target };
  const isHttp = isObject(target) && "url" in target && !("open" in target) && !("command" in target);
  return isHttp ? (target as unknown as HttpTargetOptions) : undefined;
}

function toNoUrl(target: unknown): TypeError {
  const isCommand = typeof target === "string" || (isObject(target) && "command" in target);
  const remedy = isCommand ? ": what a command needs to know goes into its environment, { command, env }" : "";
  return new TypeError(`connect: auth is for a server at a URL, such as https://example.com/mcp${remedy}`);
}
