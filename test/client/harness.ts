// The client's suites run everything in every revision and over every transport: `each` gives the table, `open` a client
// of the workshop and what passes between the two, all of which is judged. A child process is the same server file,
// bundled once.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import {
  type Client,
  type ClientOptions,
  connect,
  McpError,
  type Revision,
  revisions,
  type Server,
  type Target,
} from "plenum";
import { toFetchHandler } from "plenum/http";
import { httpTarget } from "plenum/http/client";
import { serveHttp } from "plenum/http/node";
import { memoryTarget } from "plenum/memory";
import { stdioTarget } from "plenum/stdio/client";
import { tapTarget } from "plenum/tap";
import { expect, onTestFinished } from "vitest";
import { root } from "../house/source.ts";
import { createWorkshop, type WorkshopOptions } from "./fixtures/workshop.ts";
import { createTraffic, type Traffic } from "./traffic.ts";

/** "http" and "http-stream" are sockets, answered by JSON where that will do, or always by events; "web" is the other feed. */
export type Transport = "memory" | "stdio" | "http" | "http-stream" | "web" | "sse" | "sessionless";

export const modern: Revision = "2026-07-28";
export const sessioned: readonly Revision[] = revisions.filter((revision) => revision !== modern);

/** Every revision over every transport that it has, or some of them. */
export function each(some: readonly Revision[] = revisions): { revision: Revision; transport: Transport }[] {
  return some.flatMap((revision) => {
    const overHttp: readonly Transport[] = revision === "2024-11-05" ? ["sse"] : ["http", "http-stream", "web"];
    const transports: readonly Transport[] = ["memory", "stdio", ...overHttp];
    return transports.map((transport) => ({ revision, transport }));
  });
}

/** The same, and without sessions: for what needs none of the server's own requests and notifications. */
export function eachWay(some: readonly Revision[] = revisions): { revision: Revision; transport: Transport }[] {
  const bare = some.filter((revision) => revision !== modern && revision !== "2024-11-05");
  return [...each(some), ...bare.map((revision) => ({ revision, transport: "sessionless" as const }))];
}

/** Whether a request has a stream of its own: in 2026-07-28 it is cancelled by closing that, and without a word. */
export function hasOwnStreams(transport: Transport): boolean {
  return transport !== "memory" && transport !== "stdio" && transport !== "sse";
}

/** The server over HTTP, and what a client connects to. */
async function serveOverHttp(server: Server, transport: Transport): Promise<Target> {
  if (transport === "web") {
    const handler = toFetchHandler(server);
    onTestFinished(() => handler.close(0));
    const fetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
      handler(new Request(url, init));
    return httpTarget({ url: "http://localhost/mcp", fetch });
  }
  const http = await serveHttp(server, {
    sse: transport === "sse",
    ...(transport === "http-stream" && { answers: "stream" }),
    ...(transport === "sessionless" && { sessions: false }),
  });
  onTestFinished(() => http.close(0));
  return httpTarget({ url: transport === "sse" ? http.url.replace(/mcp$/, "sse") : http.url });
}

const bundles = new Map<string, Promise<string>>();

/** A program of the tests as one plain file: it starts in a fraction of the time that a loader would take. */
export function bundleProgram(path: string): Promise<string> {
  const made = bundles.get(path) ?? bundle(path);
  bundles.set(path, made);
  return made;
}

async function bundle(path: string): Promise<string> {
  const folder = join(root, "node_modules", ".cache", "plenum-programs");
  mkdirSync(folder, { recursive: true });
  // One of its own for every worker: two must not write one file.
  const outfile = join(folder, `${path.replace(/[^a-z0-9]+/gi, "-")}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, path)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["plenum-source"],
    logLevel: "silent",
  });
  return outfile;
}

export interface Opened {
  readonly client: Client;
  /** Everything that passed so far, on either side. It is judged when the test ends. */
  readonly traffic: Traffic;
}

/** A client of any target, closed and judged when the test ends. */
export async function openTarget(target: Target, options: ClientOptions = {}): Promise<Opened> {
  const traffic = createTraffic();
  const client = await connect(tapTarget(target, traffic.report), options);
  const { revision } = client;
  onTestFinished(async () => {
    await client.close();
    expect(traffic.problems(revision)).toEqual([]);
  });
  return { client, traffic };
}

/** A client of a target that is not judged: one that does wrong on purpose. Closed when the test ends. */
export async function openScript(target: Target, options: ClientOptions = {}): Promise<Client> {
  const client = await connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

/** A client of a server in this process. */
export async function openServer(server: Server, revision?: Revision, options: ClientOptions = {}): Promise<Opened> {
  onTestFinished(() => server.close());
  return openTarget(memoryTarget(server), { ...options, ...(revision && { revision }) });
}

/** The workshop, and what a client connects to. */
export async function serveWorkshop(transport: Transport, workshop: WorkshopOptions = {}): Promise<Target> {
  if (transport === "stdio") {
    const program = await bundleProgram("test/client/fixtures/workshop.ts");
    return stdioTarget({ command: process.execPath, args: [program, JSON.stringify(workshop)] });
  }
  const server = createWorkshop(workshop);
  const target = transport === "memory" ? memoryTarget(server) : await serveOverHttp(server, transport);
  onTestFinished(() => server.close());
  return target;
}

/** A client of the workshop. */
export async function open(
  revision: Revision | undefined,
  transport: Transport,
  options: ClientOptions = {},
  workshop: WorkshopOptions = {},
): Promise<Opened> {
  return openTarget(await serveWorkshop(transport, workshop), { ...options, ...(revision && { revision }) });
}

export async function openClient(...args: Parameters<typeof open>): Promise<Client> {
  return (await open(...args)).client;
}

/** The error that a promise is rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<McpError> {
  const error = await promise.then(
    (value) => expect.fail(`expected an error, not ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(McpError);
  return error as McpError;
}
