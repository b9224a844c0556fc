// The server that is fuzzed, one of everything, and a client's hand for it in every revision. What a revision has is
// listed here by hand: the tests must not ask the code under test.
import { createServer, type Revision, type Server } from "plenum";
import { createRawPeer, type RawPeer } from "plenum/memory";
import type { ServeOptions } from "plenum/protocol";
import { z } from "zod";

export type Obj = Record<string, unknown>;

export const modern = "2026-07-28";
export const prefix = "io.modelcontextprotocol/";

export interface Target {
  readonly server: Server;
  /** How often a handler of user code ran. */
  ran: number;
}

export function createTarget(): Target {
  const server = createServer({ name: "target", version: "1.0.0", pageSize: 1, onError: () => {} });
  const target: Target = { server, ran: 0 };
  const ran = <T>(value: T): T => {
    target.ran++;
    return value;
  };
  server.tool("echo", { input: z.object({ message: z.string() }) }, ({ message }) => ran(message));
  server.tool("add", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ran(String(a + b)));
  server.tool("bag", { input: { type: "object" } }, (bag) => ran(JSON.stringify(bag)));
  server.resource("note:///one", { name: "one" }, () => ran("one"));
  server.resource("note:///two", { name: "two" }, () => ran("two"));
  server.resource("item:///{id}", { complete: { id: () => ["a", "b"] } }, ({ id }) => (id === "none" ? null : ran(id)));
  server.resource("other:///{id}", {}, ({ id }) => ran(id));
  server.prompt("hello", { arguments: z.object({ name: z.string() }), complete: { name: () => ["Ada"] } }, ({ name }) =>
    ran(`Hello ${name}`),
  );
  server.prompt("bye", {}, () => ran("Bye"));
  return target;
}

/** A server that offers tools and nothing else. */
export function createBareServer(): Server {
  const server = createServer({ name: "bare", version: "1.0.0", logging: false, onError: () => {} });
  server.tool("echo", { input: z.object({ message: z.string() }) }, ({ message }) => message);
  return server;
}

/** The `_meta` that makes a request complete in the stateless era. */
export function meta(capabilities: Obj = {}): Obj {
  return {
    [`${prefix}protocolVersion`]: modern,
    [`${prefix}clientCapabilities`]: capabilities,
    [`${prefix}clientInfo`]: { name: "fuzz", version: "1.0.0" },
  };
}

/** Params as the revision wants them. */
export function dress(revision: Revision, params: Obj | undefined): Obj | undefined {
  if (revision !== modern) return params;
  return { ...params, _meta: { ...meta(), ...(params?._meta as Obj | undefined) } };
}

/** A request that is right in its envelope. */
export function request(revision: Revision, method: string, params?: Obj, id: unknown = "x"): Obj {
  const dressed = dress(revision, params);
  return { jsonrpc: "2.0", id, method, ...(dressed && { params: dressed }) };
}

export function handshake(revision: Revision, id: unknown = "open", capabilities: Obj = {}): Obj {
  const params = { protocolVersion: revision, capabilities, clientInfo: { name: "fuzz", version: "1.0.0" } };
  return { jsonrpc: "2.0", id, method: "initialize", params };
}

/** Connects, and opens a session where the revision has one. */
export async function openRaw(
  server: Server,
  revision: Revision,
  options: ServeOptions = {},
): Promise<RawPeer & { heard: number }> {
  const peer = Object.assign(createRawPeer(server, options), { heard: 0 });
  if (revision !== modern) {
    const { id, method, params } = handshake(revision) as { id: string; method: string; params: Obj };
    await peer.request(method, params, id);
    peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    peer.heard = 1;
  }
  return peer;
}

const always = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
  "prompts/get",
  "completion/complete",
];
const sessioned = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
const stateless = ["server/discover", "subscriptions/listen"];

/** The requests that a client may send in a revision. */
export function methodsIn(revision: Revision): readonly string[] {
  return [...always, ...(revision === modern ? stateless : sessioned)];
}

/** A request that is right in every way, by method. */
export const good: { readonly [method: string]: Obj | undefined } = {
  "tools/list": undefined,
  "tools/call": { name: "echo", arguments: { message: "hi" } },
  "resources/list": undefined,
  "resources/templates/list": undefined,
  "resources/read": { uri: "note:///one" },
  "resources/subscribe": { uri: "note:///one" },
  "resources/unsubscribe": { uri: "note:///one" },
  "prompts/list": undefined,
  "prompts/get": { name: "hello", arguments: { name: "Ada" } },
  "completion/complete": { ref: { type: "ref/prompt", name: "hello" }, argument: { name: "name", value: "A" } },
  "logging/setLevel": { level: "info" },
  ping: undefined,
  "server/discover": undefined,
  "subscriptions/listen": { notifications: { toolsListChanged: true } },
};

/** Waits until so many messages are there, for turns of the event loop and not for time. */
export async function arrival(peer: RawPeer, count: number): Promise<void> {
  for (let turns = 0; turns < 200 && peer.received.length < count; turns++) {
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Two turns of the event loop: what has not come by then was not on its way. */
export async function calm(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
