// Which names a server answers to, and which pages in a browser may call it. A page of any site can make a browser send
// requests here; a site whose name is made to lead to this machine (DNS rebinding) could read the answers as well.
import { quote } from "../../util/quote.ts";
import { remember } from "../../util/remember.ts";
import { HttpFault, type HttpHead } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";

export interface Guard {
  /** Why the request goes no further: 400 for a Host that is none, 403 for a Host or an Origin that is not allowed. */
  check(head: HttpHead): HttpFault | undefined;
  /**
   * Whether pages of this origin may call, and read the answers.
   * @param host the request's Host: with `auth` and without `allowedHosts`, the server's own pages are known by it
   */
  isAllowedOrigin(origin: string, host?: string): boolean;
}

/** A host in its one spelling: lower case, IPv6 short and in brackets. */
interface Authority {
  readonly name: string;
  /** Undefined where none is written. */
  readonly port: number | undefined;
}

interface Origin extends Authority {
  readonly port: number;
  /** What the scheme has where no port is written. */
  readonly defaultPort: number;
}

/** An entry of `allowedHosts`. */
interface HostRule extends Authority {
  /** The name stands for all names below it, and not for itself. */
  readonly isWide: boolean;
}

const maxPort = 65_535;

const hostsAdvice =
  'give the names under which clients reach this server, such as ["mcp.example.com", "localhost:8080", "*.example.com"]';

const noHost = "The request needs one Host header: a host name and at most a port";

const refused = (what: string): HttpFault =>
  new HttpFault(
    403,
    `The ${what} of this request is not allowed. If it is right, the server's operator adds it to the option allowed${what}s`,
  );

/** Throws a TypeError for an entry that would match nothing, or everything. */
export function createGuard(
  settings: Pick<HttpSettings, "allowedHosts" | "allowedOrigins" | "dangerouslyAllowAnyHost" | "auth">,
): Guard {
  const { allowedHosts, allowedOrigins, dangerouslyAllowAnyHost, auth } = settings;
  if (allowedHosts?.length === 0) throw new TypeError(`allowedHosts: an empty list lets nobody in; ${hostsAdvice}`);
  const rules = allowedHosts?.map(toHostRule);
  const origins = new Set(allowedOrigins?.map(toAllowedOrigin));

  if (dangerouslyAllowAnyHost)
    return { check: () => undefined, isAllowedOrigin: (origin) => parseOrigin(origin) !== undefined };

  const isAllowedHost = (host: Authority): boolean => {
    if (rules) return rules.some((rule) => isCovered(host, rule));
    return auth !== undefined || isLoopbackName(host.name);
  };
  const isOwn = (origin: Origin, host: string | undefined): boolean => {
    if (rules) return rules.some((rule) => isCovered(origin, rule));
    if (!auth) return isLoopbackName(origin.name);
    const own = host === undefined ? undefined : parseHost(host);
    return own !== undefined && own.name === origin.name && (own.port ?? origin.defaultPort) === origin.port;
  };
  const isAllowedOrigin = (text: string, host?: string): boolean => {
    const origin = parseOrigin(text);
    return origin !== undefined && (origins.has(text) || isOwn(origin, host));
  };
  const judge = remember((host: string): "none" | "allowed" | "refused" => {
    const authority = parseHost(host);
    return authority ? (isAllowedHost(authority) ? "allowed" : "refused") : "none";
  });
  return {
    check(head) {
      const host = head.header("host");
      const verdict = host === undefined ? "none" : judge(host);
      if (verdict === "none") return new HttpFault(400, noHost);
      if (verdict === "refused") return refused("Host");
      const origin = head.header("origin");
      if (origin === undefined || isAllowedOrigin(origin, host)) return undefined;
      return refused("Origin");
    },
    isAllowedOrigin,
  };
}

/**
 * A host with its port by which clients can call a server that listens on this address, in the spelling of a URL: one that
 * passes the check, if there is any.
 */
export function toReachable(
  address: string,
  port: number,
  settings: Pick<HttpSettings, "allowedHosts" | "allowedOrigins" | "dangerouslyAllowAnyHost" | "auth">,
): string {
  const guard = createGuard(settings);
  const isEverywhere = address === "0.0.0.0" || address === "::";
  const own = isEverywhere ? "127.0.0.1" : address.includes(":") ? `[${address}]` : address;
  const ways = [own];
  if (address === "::") ways.push("[::1]");
  if (isEverywhere || isLoopback(address)) ways.push("localhost");
  const named = settings.allowedHosts?.filter((entry) => !entry.startsWith("*.")) ?? [];
  const all = [...ways, ...named].map((way) => (/:\d+$/.test(way) ? way : `${way}:${port}`));
  const passes = (host: string): boolean =>
    guard.check({ method: "GET", path: "/", query: "", header: (name) => (name === "host" ? host : undefined) }) ===
    undefined;
  return all.find(passes) ?? `${own}:${port}`;
}

/**
 * Whether only this machine reaches it: localhost, an address of 127.0.0.0/8 written as four numbers, or ::1, with or
 * without brackets. Other spellings of the same are not worth the doubt.
 */
export function isLoopback(host: string): boolean {
  const isBare = host.includes(":") && !host.startsWith("[");
  const authority = parseHost(isBare ? `[${host}]` : host);
  return authority !== undefined && authority.port === undefined && isLoopbackName(authority.name);
}

/** Why a server is not started on this host, in words: others reach it, and nothing says who may. */
export function checkExposure(
  host: string,
  options: Pick<HttpSettings, "allowedHosts" | "auth" | "dangerouslyAllowAnyHost">,
): string | undefined {
  if (isLoopback(host) || options.allowedHosts || options.auth || options.dangerouslyAllowAnyHost) return undefined;
  const where = host === "" ? "every address of this machine" : quote(host);
  return (
    `Listening on ${where} makes this server reachable from elsewhere, and nothing says for whom it is. ` +
    `Set allowedHosts (${hostsAdvice}), or auth, or listen on 127.0.0.1. ` +
    "allowedOrigins alone protects from no one but browsers. " +
    "If whoever reaches it may use it, set dangerouslyAllowAnyHost"
  );
}

function isLoopbackName(name: string): boolean {
  // A name that looks like an address is one: parseHost has seen to it.
  return name === "localhost" || name === "[::1]" || (name.startsWith("127.") && isAddress(name));
}

function isCovered({ name, port }: Authority, rule: HostRule): boolean {
  if (rule.isWide ? !name.endsWith(`.${rule.name}`) : name !== rule.name) return false;
  if (rule.port === undefined || rule.port === port) return true;
  // The port of the scheme is left out of a Host, and which scheme it is only a proxy before us knows.
  return port === undefined && (rule.port === 80 || rule.port === 443);
}

function toHostRule(entry: string): HostRule {
  const isWide = entry.startsWith("*.");
  const authority = parseHost(isWide ? entry.slice(2) : entry);
  const isAddressed = authority !== undefined && (isAddress(authority.name) || authority.name.startsWith("["));
  if (authority && !(isWide && isAddressed)) return { ...authority, isWide };
  if (entry === "*")
    throw new TypeError('allowedHosts: "*" would switch the check off; that is the option dangerouslyAllowAnyHost');
  const urls = entry.includes("://") ? [entry] : [`http://${entry}`, `http://[${entry}]`];
  const meant = urls.map(toWritten).find((written) => written !== undefined && parseOrigin(written));
  const hint = meant ? `write ${quote(new URL(meant).host)}` : hostsAdvice;
  throw new TypeError(`allowedHosts: ${quote(entry)} is no host name with at most a port; ${hint}`);
}

function toAllowedOrigin(entry: string): string {
  if (entry === "*") {
    const why = "would let the pages of every site call this server with what the browser can reach";
    throw new TypeError(`allowedOrigins: "*" ${why}; list origins such as "https://app.example.com"`);
  }
  const written = toWritten(entry);
  // What a browser sends is compared letter by letter: an entry in another spelling would never match.
  if (written === entry && parseOrigin(entry)) return entry;
  const hint = written && parseOrigin(written) ? `write ${quote(written)}` : 'write it as "https://app.example.com"';
  throw new TypeError(`allowedOrigins: ${quote(entry)} is not an origin as browsers send it; ${hint}`);
}

/** The origin of a URL as a browser writes it. */
function toWritten(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin } = new URL(url);
  return origin === "null" ? undefined : origin;
}

/** Undefined for "null", other schemes, paths, lists, and for spellings that no browser sends. */
function parseOrigin(text: string): Origin | undefined {
  const defaultPort = text.startsWith("http://") ? 80 : text.startsWith("https://") ? 443 : undefined;
  if (defaultPort === undefined) return undefined;
  const rest = text.slice(defaultPort === 80 ? 7 : 8);
  const authority = parseHost(rest);
  if (!authority || /[A-Z]/.test(rest)) return undefined;
  return { name: authority.name, port: authority.port ?? defaultPort, defaultPort };
}

/**
 * One host with at most a port, and nothing else. No trailing dot, no zone of an IPv6 address, no IPv4 address in one of
 * its odd spellings: what two readers could understand differently is none.
 */
function parseHost(text: string): Authority | undefined {
  const [, written = "", digits] =
    /^(\[[0-9A-Fa-f:.]{2,45}\]|[0-9A-Za-z_.-]{1,253})(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && port > maxPort) return undefined;
  const name = written.startsWith("[") ? shorten(written) : written.toLowerCase();
  if (name === undefined || !(name.startsWith("[") || isName(name))) return undefined;
  return { name, port };
}

/** An IPv6 address in brackets in its shortest form. */
function shorten(address: string): string | undefined {
  const url = `http://${address}`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

function isName(name: string): boolean {
  const labels = name.split(".");
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return false;
  // With a number at its end it is read as an address, by some in base 8 or 16, or with less than four parts.
  const isNumeric = /^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) as string);
  return !isNumeric || isAddress(name);
}

/** IPv4 as four plain numbers. */
function isAddress(name: string): boolean {
  const parts = name.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
}
