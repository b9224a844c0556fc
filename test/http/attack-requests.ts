// Good requests of every revision, for attacks to spoil. Nothing here is of the test runner: programs use it too.
import type { Revision } from "plenum";
import { good, modern, type Obj, request } from "../fuzz/target.ts";
import { compose, type HeaderList } from "./attack-wire.ts";

/** Where the server is. */
export interface Place {
  readonly port: number;
}

export const json: HeaderList = [
  ["Content-Type", "application/json"],
  ["Accept", "application/json, text/event-stream"],
];

export function hostOf({ port }: Place): HeaderList[number] {
  return ["Host", `127.0.0.1:${port}`];
}

/** What the newest revision repeats in headers. */
export function mirrorOf(message: Obj): HeaderList {
  const { method, params } = message as { method: string; params?: Obj };
  const name = method === "resources/read" ? params?.uri : params?.name;
  const isNamed = ["tools/call", "prompts/get", "resources/read"].includes(method);
  return [
    ["MCP-Protocol-Version", modern],
    ["Mcp-Method", method],
    ...(isNamed ? ([["Mcp-Name", String(name)]] as const) : []),
  ];
}

/** A call of the newest revision that runs a handler, and what goes with it. */
export const callOf = (args: Obj = { message: "hi" }, name = "echo", id: unknown = 1): Obj =>
  request(modern, "tools/call", { name, arguments: args }, id);

/** A whole request, headers as given, with the length of the body. */
export function post(stage: Place, message: unknown, headers: HeaderList, target = "/mcp"): string {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  const length = Buffer.byteLength(body);
  return compose("POST", target, [hostOf(stage), ...headers, ["Content-Length", `${length}`]], body);
}

/** A good call of the newest revision. */
export function goodCall(stage: Place, extra: HeaderList = [], message: Obj = callOf()): string {
  return post(stage, message, [...json, ...mirrorOf(message), ...extra]);
}

export function sessionHeaders(id: string, revision: Revision): HeaderList {
  return [["Mcp-Session-Id", id], ...(revision > "2025-03-26" ? ([["MCP-Protocol-Version", revision]] as const) : [])];
}

/** A request of a session. */
export function sessionPost(
  stage: Place,
  id: string,
  revision: Revision,
  message: unknown = request(revision, "tools/call", good["tools/call"]),
): string {
  return post(stage, message, [...json, ...sessionHeaders(id, revision)]);
}

export const latest: Revision = "2025-11-25";
export const eventStream: HeaderList[number] = ["Accept", "text/event-stream"];

/** A GET for a session's stream. */
export function get(stage: Place, id: string, extra: HeaderList = []): string {
  return compose("GET", "/mcp", [hostOf(stage), eventStream, ...sessionHeaders(id, latest), ...extra]);
}

/** The end of a session. */
export function remove(stage: Place, id: string, extra: HeaderList = []): string {
  return compose("DELETE", "/mcp", [hostOf(stage), ...sessionHeaders(id, latest), ...extra]);
}
