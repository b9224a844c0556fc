// Where an authorization code may be sent: what a client may name beforehand, and whether what it asks for is that.
// OAuth 2.1 § 2.3, RFC 8252 § 7.
import type { Client } from "./client.ts";

/** Schemes that a browser or the system does something else with than to open a program. */
const strange = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source|mailto|tel|ftp|wss?|https?):$/;

/** Only the port may be another: a program takes whichever is free. Split as text, since what is compared is text. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?((?:[/?].*)?)$/;

/**
 * What is wrong with a redirect URI that a client names for itself. It must be https, http on the user's own machine, or of a
 * scheme that is a domain's.
 * @param isGiven the application vouches for it: any scheme that opens a program will do
 */
export function checkRedirectUri(uri: unknown, isGiven = false): string | undefined {
  if (typeof uri !== "string" || uri.length > 2000) return "A redirect URI is a text of at most 2000 characters";
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\#*]/.test(uri))
    return "A redirect URI has no fragment, no wildcard, no backslash, and nothing that is not visible ASCII";
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url) return "A redirect URI is a whole URL";
  if (url.username || url.password) return "A redirect URI has no user name and no password in it";
  // Another spelling is compared as one thing and followed as another.
  if (url.href !== uri && url.href !== `${uri}/`)
    return "A redirect URI is written as browsers write it: a host in lower case, no default port, no dot segments";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:")
    return loopback.test(uri) ? undefined : "A redirect URI is https, or http on 127.0.0.1, [::1] or localhost";
  if (strange.test(url.protocol))
    return "A redirect URI is https, http on the user's machine, or of a program's own scheme";
  return isGiven || url.protocol.includes(".")
    ? undefined
    : "The scheme of a redirect URI that is not https is a domain's in reverse, such as com.example.app";
}

/** Letter by letter. Of one on the user's own machine the port is free. */
export function matchRedirect({ redirectUris }: Pick<Client, "redirectUris">, uri: string): boolean {
  if (redirectUris.includes(uri)) return true;
  const asked = loopback.exec(uri);
  if (!asked || Number(asked[2] ?? 80) > 65_535) return false;
  return redirectUris.some((known) => {
    const own = loopback.exec(known);
    return own !== null && own[1] === asked[1] && own[3] === asked[3];
  });
}
