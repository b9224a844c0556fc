// What ties an answer to the browser that was asked: cookies that only we can write, and tokens in forms that hold for one
// browser and one page.

import type { Sealer } from "../../util/seal.ts";
import { isLoopbackHost } from "../guarded-fetch.ts";
import type { RouteRequest } from "../route.ts";

export interface Cookies {
  /** Undefined for one that is not there, that somebody else wrote or changed, or that stands twice. */
  read(request: RouteRequest, name: string): Promise<string | undefined>;
  /**
   * The value of Set-Cookie.
   * @param value letters, digits, `-`, `_` and `.`
   * @param maxAgeS default: until the browser is closed
   */
  write(name: string, value: string, maxAgeS?: number): Promise<string>;
  /** A hidden field of a form: of no use for any other `parts`. */
  toToken(parts: readonly string[]): Promise<string>;
  isToken(token: string | null, parts: readonly string[]): Promise<boolean>;
}

export function createCookies(issuer: string, sealer: () => Promise<Sealer>): Cookies {
  const { protocol, hostname, port, pathname } = new URL(issuer);
  const isPlain = protocol === "http:" && isLoopbackHost(hostname);
  // On this machine not every browser keeps secure cookies without TLS (Safari does not), and all ports share their cookies.
  const prefix = isPlain ? `plenum-${port || "80"}-` : "__Host-plenum-";
  // Two issuers may share a host: `__Host-` allows no other path than the root.
  const suffix = pathname.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "");
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isPlain ? "" : "; Secure"}`;
  const toName = (name: string): string => `${prefix}${name}${suffix}`;

  return {
    async read(request, name) {
      const sealed = findCookie(request.header("cookie") ?? "", toName(name));
      return sealed === undefined ? undefined : (await sealer()).open(`cookie ${name}`, sealed);
    },
    async write(name, value, maxAgeS) {
      const sealed = await (await sealer()).seal(`cookie ${name}`, value);
      const age = maxAgeS === undefined ? "" : `; Max-Age=${maxAgeS}`;
      return `${toName(name)}=${sealed}; ${attributes}${age}`;
    },
    async toToken(parts) {
      return (await sealer()).seal(`form ${JSON.stringify(parts)}`, "");
    },
    async isToken(token, parts) {
      return token !== null && (await (await sealer()).open(`form ${JSON.stringify(parts)}`, token)) === "";
    },
  };
}

function findCookie(header: string, name: string): string | undefined {
  const found = header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  // Which of two was written by us cannot be told by who reads only one of them.
  return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined;
}
