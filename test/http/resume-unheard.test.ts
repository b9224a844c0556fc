// What a session keeps for a client that does not listen: each change once before it has ever listened, and what there is
// room for when it has.
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer, Message } from "./answer.ts";
import { openSession, sessioned } from "./callers.ts";
import { openHttp, pause } from "./harness.ts";
import { createStage, type Stage } from "./stage.ts";

/** A list changes, or a resource does; told by the next turn. */
async function change(stage: Stage, uri?: string): Promise<void> {
  if (uri === undefined) stage.server.resourcesChanged();
  else stage.server.resourceUpdated(uri);
  await pause(3);
}

async function take(answer: Answer, count: number): Promise<string[]> {
  const said: string[] = [];
  while (said.length < count) {
    const { method, params } = (await answer.message()) as Message;
    said.push(method === "notifications/resources/updated" ? String(params?.uri) : String(method));
  }
  return said;
}

const listChanged = "notifications/resources/list_changed";

describe.each(sessioned)("in %s", (revision) => {
  test("changes before anybody listens are told once each, and from then on every time", async () => {
    covers(["http-event-id", "http-resumable"], revision);
    const stage = createStage();
    const session = await openSession(await openHttp(stage.server), revision);
    for (const uri of ["note://1", "note://2"])
      expect((await session.request("resources/subscribe", { uri })).status).toBe(200);
    for (let n = 0; n < 20; n++) {
      await change(stage);
      await change(stage, "note://1");
    }
    await change(stage, "note://2");
    const listening = await session.get();
    expect(await take(listening, 3)).toEqual([listChanged, "note://1", "note://2"]);
    for (let n = 0; n < 3; n++) await change(stage, "note://1");
    await change(stage, "note://2");
    expect(await take(listening, 4)).toEqual(["note://1", "note://1", "note://1", "note://2"]);
  });

  test("who was away too long and comes without an event hears what there is", async () => {
    const stage = createStage();
    const http = await openHttp(stage.server, { sessions: { maxEvents: 4 } });
    const session = await openSession(http, revision);
    expect((await session.request("resources/subscribe", { uri: "note://1" })).status).toBe(200);
    const first = await session.get();
    await change(stage);
    expect(await take(first, 1)).toEqual([listChanged]);
    first.drop();
    await pause(20);
    for (let n = 0; n < 10; n++) await change(stage, "note://1");
    const second = await session.get();
    expect(await take(second, 4)).toEqual(["note://1", "note://1", "note://1", "note://1"]);
    await change(stage);
    expect(await take(second, 1)).toEqual([listChanged]);
  });
});
