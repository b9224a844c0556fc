// Generated messages by the thousand: each gets what the oracle says, no more and no less; nothing stays in flight, and
// nothing is thrown where nobody catches it. PLENUM_FUZZ_RUNS multiplies the runs, PLENUM_FUZZ_SEED chooses others.
import fc from "fast-check";
import { type Revision, revisions } from "plenum";
import { createRawPeer } from "plenum/memory";
import { afterAll, describe, expect, test } from "vitest";
import { isOfficialHere } from "../wire/official.ts";
import { countOwed, expectGroup, expectIdle } from "./group.ts";
import { anything, mutated, mutatedOf, scratched } from "./mutate.ts";
import { isObject, judgeText } from "./oracle.ts";
import { compareShape, looser, refusalOf, stricter } from "./shape-oracle.ts";
import { watchStrays } from "./strays.ts";
import { arrival, calm, createTarget, handshake, modern, openRaw } from "./target.ts";

const times = Number(process.env.PLENUM_FUZZ_RUNS ?? 1);
const seed = Number(process.env.PLENUM_FUZZ_SEED ?? 20260728);
const options = (numRuns: number) => ({ seed, numRuns: Math.ceil(numRuns * times) });

const maxInFlight = 32;
let sent = 0;
watchStrays();

afterAll(() => {
  expect((Object.prototype as { polluted?: unknown }).polluted).toBeUndefined();
  if (times >= 1) expect(sent).toBeGreaterThanOrEqual(10_000);
});

describe.each(revisions)("generated messages in %s", (revision) => {
  const target = createTarget();
  const session = revision === modern ? undefined : revision;

  /** Sends texts in one go and waits for what they deserve; afterwards nothing is in flight and the connection lives. */
  async function sendGroup(texts: readonly string[]) {
    const peer = await openRaw(target.server, revision, { maxInFlight });
    const verdicts = texts.map((text) => judgeText(text, session));
    for (const text of texts) peer.send(text);
    sent += texts.length;
    await arrival(peer, peer.heard + countOwed(verdicts, texts));
    await calm();
    const received = peer.received.slice(peer.heard);
    await expectGroup(peer, verdicts, received, texts);
    await expectIdle(peer, revision, maxInFlight);
    peer.close();
    return { verdicts, received };
  }

  test("noise and near messages get the right answer or none", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 30 }), async (texts) => {
        await sendGroup(texts);
      }),
      options(60),
    );
  });

  test("scratched texts get the right answer or none", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(scratched(mutated(revision)), { minLength: 1, maxLength: 20 }), async (texts) => {
        await sendGroup(texts);
      }),
      options(60),
    );
  });

  test("mutated requests get one answer, and the official schema agrees with it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutated(revision), { minLength: 1, maxLength: 20 }), async (texts) => {
        const { verdicts, received } = await sendGroup(texts);
        for (const verdict of verdicts)
          if (verdict.kind === "answer") compareShape(revision, verdict.request, received);
      }),
      options(300),
    );
  });

  test.skipIf(revision === modern)("mutated handshakes open a session or say why not", async () => {
    const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {}, experimental: { "a/b": {} } };
    await fc.assert(
      fc.asyncProperty(mutatedOf(handshake(revision, "open", capabilities)), async (text) => {
        const peer = createRawPeer(target.server, { maxInFlight: 1 });
        const verdict = judgeText(text, undefined);
        peer.send(text);
        sent++;
        await arrival(peer, verdict.kind === "silence" ? 0 : 1);
        await calm();
        await expectGroup(peer, [verdict], [...peer.received], [text]);
        if (verdict.kind === "answer" && verdict.request.method === "initialize") {
          const [answer] = peer.received as { result?: { protocolVersion: Revision } }[];
          compareShape(answer?.result?.protocolVersion ?? versionOf(verdict.request), verdict.request, peer.received);
        }
        await expectIdle(peer, modern, 1);
        peer.close();
      }),
      options(300),
    );
  });
});

describe.skipIf(!isOfficialHere)("where we and the official schemas differ on purpose", () => {
  const ask = async ({ method, params }: { method: string; params: Record<string, unknown> }) => {
    const peer = await openRaw(createTarget().server, "2025-11-25");
    const answer = (await peer.request(method, params)) as { result?: unknown; error?: { code: number } };
    peer.close();
    return { ...answer, refusal: refusalOf("2025-11-25", method, params) };
  };

  test.each(looser)("answered, though rejected: $reason", async ({ example }) => {
    const { result, refusal } = await ask(example);
    expect(refusal).toBeTypeOf("string");
    expect(result).toBeDefined();
  });

  test.each(stricter)("refused, though accepted: $reason", async ({ example }) => {
    const { error, refusal } = await ask(example);
    expect(refusal).toBeUndefined();
    expect(error?.code).toBe(-32602);
  });
});

/** The revision that a handshake is answered in. */
function versionOf({ params }: { params?: unknown }): Revision {
  const asked = isObject(params) ? params.protocolVersion : undefined;
  return revisions.find((revision) => revision === asked && revision !== modern) ?? "2025-11-25";
}
