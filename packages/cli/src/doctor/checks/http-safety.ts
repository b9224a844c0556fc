// What keeps a server over HTTP safe: who may reach it from a browser, whether what it says can be overheard, and how it asks
// for authorization.
import type { JsonObject } from "plenum";
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Ground } from "../ground.ts";
import { isTaken, messageOf, type Probe, type ProbeAnswer, type Prober } from "../http-probe.ts";
import { reasonOf, toObject } from "../visit.ts";

const foreign = "http://plenum-doctor.example";
const foreignHost = "plenum-doctor.example";
/** Where the inspector of MCP is in a browser. */
const page = "http://localhost:6274";

function isStream({ status, headers }: ProbeAnswer): boolean {
  return status === 200 && /^text\/event-stream/i.test(headers["content-type"] ?? "");
}

async function judgeRebinding(ground: Ground) {
  const prober = await ground.prober();
  if (!prober.isLoopback) return skip("it is not on this machine");
  const where = prober.url.pathname;
  // A server of HTTP+SSE begins with a stream.
  const isStreamable = await prober.isStreamable();
  const opening: Probe = isStreamable ? prober.opening() : { method: "GET", headers: { accept: "text/event-stream" } };
  const isOpen = isStreamable ? isTaken : isStream;
  const send = async (headers: { readonly [name: string]: string }): Promise<boolean> =>
    isOpen(await prober.send({ ...opening, headers: { ...opening.headers, ...headers } }));
  if (!(await send({}))) return skip("it does not take requests without more");
  if (await send({ host: foreignHost, origin: foreign })) {
    const message =
      "It takes requests with a foreign Host and Origin: any web page can reach it by DNS rebinding, and call its tools.";
    return found([{ message, where }]);
  }
  if (await send({ origin: foreign })) {
    const message = "It takes requests with a foreign Origin: any web page can send it requests.";
    return found([{ message, where, severity: "warning" }]);
  }
  return found([]);
}

function namesIn(header: unknown): readonly string[] {
  return String(header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
}

async function judgeCors(ground: Ground) {
  const prober = await ground.prober();
  const wanted = ["content-type", "mcp-session-id", "mcp-protocol-version"];
  const preflight = await prober.send({
    method: "OPTIONS",
    isAnonymous: true,
    headers: {
      origin: page,
      "access-control-request-method": "POST",
      "access-control-request-headers": wanted.join(", "),
    },
  });
  const where = `OPTIONS ${prober.url.pathname}`;
  const origin = preflight.headers["access-control-allow-origin"];
  if (preflight.status >= 300 || origin === undefined) {
    const message = `A page at ${page} may not use it: the preflight is answered with ${preflight.status} and ${origin ? "an" : "no"} Access-Control-Allow-Origin.`;
    return found([{ message, where }]);
  }
  const findings: Finding[] = [];
  const allowed = namesIn(preflight.headers["access-control-allow-headers"]);
  const missing = wanted.filter((name) => !allowed.includes(name) && !allowed.includes("*"));
  if (missing.length > 0)
    findings.push({ message: `Access-Control-Allow-Headers lacks ${missing.join(", ")}.`, where });
  const opening = prober.opening();
  const answer = await prober.send({ ...opening, headers: { ...opening.headers, origin: page } });
  const exposed = namesIn(answer.headers["access-control-expose-headers"]);
  const hasSession = answer.headers["mcp-session-id"] !== undefined;
  if (hasSession && !exposed.includes("mcp-session-id") && !exposed.includes("*"))
    findings.push({
      message: "Access-Control-Expose-Headers lacks Mcp-Session-Id: a page cannot go on with its session.",
      where: `POST ${prober.url.pathname}`,
      severity: "warning",
    });
  return found(findings);
}

async function judgeTls(ground: Ground) {
  const prober = await ground.prober();
  if (prober.url.protocol === "https:" || prober.isLoopback) return found([]);
  return found([
    {
      message: `It is reached over plain http at ${prober.url.hostname}: tokens and all that is said can be read on the way.`,
      where: prober.url.origin,
    },
  ]);
}

async function judgeAuthorization(ground: Ground) {
  const prober = await ground.prober();
  const answer = await prober.send({ ...prober.opening(), isAnonymous: true });
  const where = `POST ${prober.url.pathname}`;
  if (answer.status !== 401) {
    if (!isTaken(answer) || prober.isLoopback) return found([], `answers ${answer.status} without authorization`);
    const message = "It answers anybody without authorization.";
    return found([{ message, where, severity: "note", remedy: "If it is not meant for everybody, ask for a token." }]);
  }
  const challenge = answer.headers["www-authenticate"];
  if (challenge === undefined)
    return found([{ message: "401 comes without WWW-Authenticate: clients cannot log in.", where }]);
  const place = /resource_metadata="?([^",\s]+)"?/i.exec(challenge)?.[1];
  if (place === undefined) {
    const message = "WWW-Authenticate does not name resource_metadata: clients have to guess where it is.";
    return found([{ message, where, severity: "warning" }]);
  }
  return found(await judgeMetadata(prober, place), "401 leads to the authorization server");
}

async function judgeMetadata(prober: Prober, place: string): Promise<Finding[]> {
  if (!URL.canParse(place)) return [{ message: "resource_metadata is no absolute URL.", where: place }];
  let answer: ProbeAnswer;
  try {
    answer = await prober.send({ method: "GET", url: new URL(place), isAnonymous: true });
  } catch (error) {
    return [{ message: `The metadata of the resource cannot be fetched: ${reasonOf(error)}.`, where: place }];
  }
  const metadata: JsonObject | undefined = messageOf(answer);
  if (answer.status !== 200 || !metadata)
    return [
      { message: `The metadata of the resource is answered with ${answer.status}, and not with JSON.`, where: place },
    ];
  const findings: Finding[] = [];
  const { resource, authorization_servers: servers } = toObject(metadata);
  if (typeof resource !== "string" || !isSame(resource, prober.url))
    findings.push({
      message: `The metadata names the resource ${JSON.stringify(resource)}, and not ${prober.url.origin}${prober.url.pathname}: clients refuse it.`,
      where: place,
    });
  if (!Array.isArray(servers) || servers.length === 0)
    findings.push({ message: "The metadata names no authorization_servers.", where: place });
  return findings;
}

/** The resource is the server, or a path above it. */
function isSame(resource: string, server: URL): boolean {
  if (!URL.canParse(resource)) return false;
  const { origin, pathname } = new URL(resource);
  const path = pathname.replace(/\/$/, "");
  return origin === server.origin && (server.pathname === path || server.pathname.startsWith(`${path}/`));
}

const usual = { appliesTo: "http", severity: "error" } as const;

export const httpSafetyChecks: readonly Check[] = [
  {
    ...usual,
    id: "http/rebinding",
    title: "Foreign web pages cannot reach a server on this machine",
    looksAt: "requests with a foreign Host and a foreign Origin",
    remedy: "Refuse requests whose Host or Origin is not on a list of your own with 403.",
    run: judgeRebinding,
  },
  {
    ...usual,
    id: "http/tls",
    title: "What is said cannot be overheard",
    looksAt: "https, or a server on this machine",
    remedy: "Serve it over https, or only on 127.0.0.1.",
    needsConnection: false,
    run: judgeTls,
  },
  {
    ...usual,
    id: "http/cors",
    title: "Clients in a browser can use it",
    looksAt: "the preflight of a page, and the headers that it may see",
    severity: "note",
    remedy:
      "If pages are to use it: allow their origins, POST, GET and DELETE, the headers Content-Type, Authorization, Mcp-Session-Id and MCP-Protocol-Version, and expose Mcp-Session-Id.",
    run: judgeCors,
  },
  {
    ...usual,
    id: "http/authorization",
    title: "A client without a token learns where to log in",
    looksAt: "401, WWW-Authenticate, and the metadata of the resource",
    remedy:
      'Answer 401 with WWW-Authenticate: Bearer resource_metadata="…", and serve that document with resource and authorization_servers.',
    needsConnection: false,
    run: judgeAuthorization,
  },
];
