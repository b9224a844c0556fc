// The server under attack, over a real port, and what every attack must show.
import { createServer as createNodeServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Revision } from "plenum";
import { type HttpOptions, type ServeHttpOptions, serveHttp, toNodeHandler } from "plenum/http/node";
import { expect, onTestFinished } from "vitest";
import { createTarget, handshake, type Target } from "../fuzz/target.ts";
import { goodCall, json, type Place, post, sessionHeaders } from "./attack-requests.ts";
import { type HeaderList, openWire, type RawAnswer, sendRaw, type Wire } from "./attack-wire.ts";

export interface Stage extends Place {
  readonly target: Target;
}

/** Serves a target with `serveHttp` until the test ends. */
export async function openStage(options: ServeHttpOptions = {}, target: Target = createTarget()): Promise<Stage> {
  const serving = await serveHttp(target.server, options);
  onTestFinished(() => serving.close(0));
  return { port: serving.port, target };
}

/** The same behind a server of node:http that the application has made itself. */
export async function openMounted(options: HttpOptions = {}, target: Target = createTarget()): Promise<Stage> {
  const handler = toNodeHandler(target.server, options);
  const server = createNodeServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close(0);
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, target };
}

/** Opens a session and gives its id. */
export async function openSession(stage: Stage, revision: Revision, extra: HeaderList = []): Promise<string> {
  const answer = await sendRaw(stage.port, post(stage, handshake(revision), [...json, ...extra]));
  expect(answer?.status, answer?.body).toBe(200);
  const id = answer?.headers["mcp-session-id"] as string;
  const noted = { jsonrpc: "2.0", method: "notifications/initialized" };
  const taken = await sendRaw(stage.port, post(stage, noted, [...json, ...sessionHeaders(id, revision), ...extra]));
  expect(taken?.status).toBe(202);
  return id;
}

/** Sends what must be answered with a stream, whose body is still to come. */
export async function openStream(stage: Stage, raw: string): Promise<Wire> {
  const wire = await openWire(stage.port);
  wire.write(raw);
  expect((await wire.head())?.status).toBe(200);
  return wire;
}

/** An error is JSON that no browser takes for a page, or has no body at all. */
export function expectHarmless(answer: RawAnswer): void {
  if (answer.body === "") return;
  expect(answer.headers["content-type"], answer.body).toMatch(/^(application\/json|text\/event-stream)$/);
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
}

/** Sends bytes that must be refused with one of these statuses, and reach no handler. */
export async function expectRefused(
  stage: Stage,
  data: string | Uint8Array,
  ...statuses: readonly number[]
): Promise<RawAnswer> {
  const { ran } = stage.target;
  const answer = await sendRaw(stage.port, data);
  const shown = String(data).slice(0, 300);
  expect(answer, `no answer to ${shown}`).toBeDefined();
  expect(statuses, `${answer?.status} ${answer?.body} to ${shown}`).toContain(answer?.status);
  expectHarmless(answer as RawAnswer);
  if (answer?.status === 200) expect(JSON.parse(answer.body)).toHaveProperty("error");
  expect(stage.target.ran, shown).toBe(ran);
  return answer as RawAnswer;
}

/** The server lives, and a good call runs its handler once. */
export async function expectAlive(stage: Stage, extra: HeaderList = []): Promise<void> {
  const { ran } = stage.target;
  const answer = await sendRaw(stage.port, goodCall(stage, extra));
  expect(answer?.status, answer?.body).toBe(200);
  expect(JSON.parse(answer?.body ?? "").result.content).toEqual([{ type: "text", text: "hi" }]);
  expect(stage.target.ran).toBe(ran + 1);
}

/** Waits for something that will come about, however slow the machine. */
export async function until(isTrue: () => boolean, what = "it"): Promise<void> {
  const end = Date.now() + 20_000;
  while (!isTrue()) {
    if (Date.now() > end) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Closed until it is opened; whoever waits then goes on. */
export function createGate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}
