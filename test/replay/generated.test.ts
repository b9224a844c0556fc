// A thousand generated handlers: a client of 2026-07-28 gets from each the answer that a client of a session gets, every
// step is done once, and a state that is not what it should be is refused before anything runs.
import { createServer, type Server } from "plenum";
import { expect, test, vi } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";
import { type Message, modern, type Obj, openPeer, type Peer } from "../suites/peer.ts";
import {
  createPlans,
  createRandom,
  createTrace,
  type Plan,
  pick,
  type Random,
  readsOf,
  runPlans,
  type Trace,
} from "./plan.ts";
import { type Answer, capabilities, converse, drive, type Question } from "./rounds.ts";

watchStrays();

const handlers = Number(process.env.PLENUM_HANDLERS ?? 1000);
const perTest = 100;

interface Stage {
  readonly server: Server;
  readonly trace: Trace;
  readonly errors: string[];
}

/** A server whose tool, prompt and resource all do what the plans say. */
function createStage(plans: readonly Plan[]): Stage {
  const trace = createTrace();
  const errors: string[] = [];
  const server = createServer({
    name: "planned",
    version: "1.0.0",
    secret: "a secret of enough bytes",
    onError: (error) => void errors.push(String(error)),
  });
  const run = async (ctx: Parameters<typeof runPlans>[1]): Promise<string> => {
    trace.runs++;
    return JSON.stringify(await runPlans(plans, ctx, trace));
  };
  const n = { type: "object", properties: { n: { type: "string" } } } as const;
  server.tool("plan", { input: n }, (_, ctx) => run(ctx));
  server.prompt("plan", { arguments: n }, (_, ctx) => run(ctx));
  server.resource("plan:///{n}", {}, (_, ctx) => run(ctx));
  for (const { id, parts } of readsOf(plans))
    server.resource(`part:///${id}`, {}, async (_, ctx) => JSON.stringify(await runPlans(parts, ctx, trace)));
  return { server, trace, errors };
}

/** Answers that depend on what is asked and, where the same is asked again, on how often it was. */
function createAnswer(seed: number): Answer {
  const asked = new Map<string, number>();
  return ({ method, params }: Question) => {
    const { elicitationId: _, ...rest } = params ?? {};
    const text = JSON.stringify([method, rest]);
    const times = (asked.get(text) ?? 0) + 1;
    asked.set(text, times);
    let hash = seed + times;
    for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 0x5bd1e995) >>> 0;
    if (method === "roots/list") return { roots: [{ uri: `file:///${hash}` }] };
    if (method === "sampling/createMessage")
      return { role: "assistant", content: { type: "text", text: `${hash}` }, model: "m" };
    const action = pick(createRandom(hash), ["accept", "accept", "accept", "decline", "cancel"]);
    if (action !== "accept" || rest.mode === "url") return { action };
    return { action, content: { ok: hash % 2 === 0, ...(hash % 3 === 0 && { note: `${hash}` }) } };
  };
}

const places: readonly [method: string, params: Obj, others: Obj][] = [
  ["tools/call", { name: "plan", arguments: { n: "1" } }, { name: "plan", arguments: { n: "2" } }],
  ["prompts/get", { name: "plan", arguments: { n: "1" } }, { name: "plan", arguments: { n: "1", m: "1" } }],
  ["resources/read", { uri: "plan:///1" }, { uri: "plan:///2" }],
];

/** What the eras have in common of a response. */
function essence({ result, error }: Message): unknown {
  if (error) return { ...error, message: error.message.replace(/[0-9a-f-]{36}/, "id"), data: undefined };
  const { resultType: _, ttlMs: __, cacheScope: ___, _meta: ____, ...rest } = result ?? {};
  return rest;
}

function flip(random: Random, text: string, from: number): string {
  const at = from + Math.floor(random() * (text.length - from));
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const was = letters.indexOf(text[at] as string);
  return text.slice(0, at) + letters[was ^ (1 << Math.floor(random() * 6))] + text.slice(at + 1);
}

async function play(seed: number): Promise<{ rounds: number; refused: number }> {
  const random = createRandom(seed);
  const plans = createPlans(random);
  const [method, params, others] = pick(random, places);
  const auth = { subject: "ada", clientId: "app", scopes: [] };

  const session = createStage(plans);
  const sessioned = await openPeer(session.server, "2025-11-25", { capabilities });
  const wanted = await converse(sessioned, method, params, createAnswer(seed));

  const { server, trace, errors } = createStage(plans);
  const open = (who: Obj): Promise<Peer> =>
    openPeer(server, modern, { capabilities, sender: { auth: { ...auth, ...who } } });
  const [peer, mallory, otherApp] = [await open({}), await open({ subject: "mallory" }), await open({ clientId: "b" })];
  const [foreignMethod, foreignParams] = places[(places.findIndex(([name]) => name === method) + 1) % 3] as [
    string,
    Obj,
    Obj,
  ];
  let refused = 0;
  const { last, rounds } = await drive(peer, method, params, createAnswer(seed), {
    async onLeg({ state }, answers) {
      const before = JSON.stringify([trace.runs, [...trace.steps]]);
      const more = { inputResponses: answers };
      const attacks: [what: string, Peer, string, Obj][] = [
        ["changed", peer, method, { ...params, ...more, requestState: flip(random, state, 12) }],
        ["changed", peer, method, { ...params, ...more, requestState: flip(random, state, 12) }],
        ["changed in its head", peer, method, { ...params, ...more, requestState: flip(random, state, 3) }],
        ["cut off", peer, method, { ...params, requestState: state.slice(0, Math.floor(random() * state.length)) }],
        ["of another principal", mallory, method, { ...params, ...more, requestState: state }],
        ["of another client", otherApp, method, { ...params, ...more, requestState: state }],
        ["of another method", peer, foreignMethod, { ...foreignParams, ...more, requestState: state }],
        ["with other arguments", peer, method, { ...others, ...more, requestState: state }],
      ];
      for (const [what, from, name, sent] of attacks) {
        const { error } = await from.request(name, sent);
        expect(error, `seed ${seed}: ${what}`).toMatchObject({
          code: -32602,
          message: expect.stringContaining("Invalid requestState"),
        });
        refused++;
      }
      const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 600_001);
      try {
        const { error } = await peer.request(method, { ...params, ...more, requestState: state });
        expect(error?.message, `seed ${seed}`).toContain("it has expired");
        refused++;
      } finally {
        clock.mockRestore();
      }
      expect(JSON.stringify([trace.runs, [...trace.steps]]), `seed ${seed}: nothing ran`).toBe(before);
    },
    // Clients that forget an answer, or send one that nobody asked for, only take longer.
    alter: (answers) => ({
      ...Object.fromEntries(Object.entries(answers).filter(() => random() < 0.85)),
      ...(random() < 0.2 && { stray: { action: "accept", content: { ok: false } } }),
    }),
  });

  const where = `seed ${seed}: ${JSON.stringify(plans)}`;
  expect(essence(last), where).toEqual(essence(wanted));
  expect([...trace.steps].sort(), where).toEqual([...session.trace.steps].sort());
  expect(errors, where).toEqual(session.errors);
  // What is busy elsewhere when the run ends stops for good at its next ask or step.
  if (!JSON.stringify(plans).includes('"all"')) expect(trace.left, where).toBe(trace.entered);
  else expect(trace.left, where).toBeGreaterThanOrEqual(session.trace.left);
  for (const each of [sessioned, peer, mallory, otherApp]) {
    expect(each.problems()).toEqual([]);
    each.raw.close();
  }
  return { rounds, refused };
}

const chapters = Array.from({ length: Math.ceil(handlers / perTest) }, (_, i) => i * perTest);

test.each(chapters)("handlers from seed %i on", async (first) => {
  covers(
    [
      ...["mrtr-state-untrusted", "mrtr-state-integrity", "mrtr-state-reject-invalid", "mrtr-state-principal"],
      ...["mrtr-state-expiry", "mrtr-state-request-binding", "mrtr-server-ignores-extra", "mrtr-server-asks-again"],
      ...["mrtr-repeat", "mrtr-supported-methods", "mrtr-only-channel"],
    ],
    modern,
  );
  let rounds = 0;
  let refused = 0;
  for (let seed = first; seed < Math.min(first + perTest, handlers); seed++) {
    const played = await play(seed);
    rounds += played.rounds;
    refused += played.refused;
  }
  expect(rounds).toBeGreaterThan(perTest);
  expect(refused).toBe(rounds * 9);
});
