// The shapes of answers are loaded with what asks. A request that brings answers before anybody has asked, such as one to
// another node of a cluster, is checked all the same. In a file of its own: nothing here may have asked before.
import { expect, test } from "vitest";
import { createServer } from "../../packages/plenum/src/index.ts";
import { wireOf } from "../../packages/plenum/src/protocol/wire/wire.ts";
import { createRawPeer } from "../../packages/plenum/src/transport/memory/raw-peer.ts";

const protocol = "io.modelcontextprotocol";
const _meta = { [`${protocol}/protocolVersion`]: "2026-07-28", [`${protocol}/clientCapabilities`]: {} };

test("answers are checked before anybody has asked, and after", async () => {
  const server = createServer({ name: "small", version: "1.0.0" });
  server.tool("echo", {}, () => "hello");
  const peer = createRawPeer(server);
  const call = (inputResponses: unknown) => peer.request("tools/call", { _meta, name: "echo", inputResponses });
  const refused = (message: string) => ({
    error: { code: -32602, message: `Invalid params for tools/call: ${message}` },
  });

  expect(wireOf("2026-07-28").has("ElicitResult")).toBe(false);
  const noAnswers = refused("params.inputResponses must be an object");
  const noAnswer = refused("params.inputResponses.a must be an object");
  const strange = refused("params.inputResponses.a must be CreateMessageResult or ListRootsResult or ElicitResult");
  expect(await call(5)).toMatchObject(noAnswers);
  expect(await call({ a: 5 })).toMatchObject(noAnswer);
  expect(wireOf("2026-07-28").has("ElicitResult")).toBe(false);
  expect(await call({ a: { neither: 1 } })).toMatchObject(strange);
  expect(wireOf("2026-07-28").has("ElicitResult")).toBe(true);
  expect(await call(5)).toMatchObject(noAnswers);
  expect(await call({ a: 5 })).toMatchObject(noAnswer);
  expect(await call({ a: { neither: 1 } })).toMatchObject(strange);
  expect(await call({ a: { action: "cancel" } })).toMatchObject({ result: { content: [{ text: "hello" }] } });
  peer.close();
});
