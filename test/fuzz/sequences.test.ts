// Sequences of steps that interleave both eras on one connection, against the model: each step is answered exactly, in
// order, and ids that look alike are kept apart.
import fc from "fast-check";
import { createRawPeer } from "plenum/memory";
import { expect, test } from "vitest";
import { Model, type Said, steps } from "./model.ts";
import { arrival, calm, createTarget, type Obj } from "./target.ts";

const times = Number(process.env.PLENUM_FUZZ_RUNS ?? 1);
const seed = Number(process.env.PLENUM_FUZZ_SEED ?? 20260728);

function toSaid(message: unknown): Said {
  if (Array.isArray(message)) return message.map(toSaid);
  const { id, method, result, error } = message as Obj;
  if (method !== undefined) return { told: message as Obj };
  if (result !== undefined) return { result: id };
  const { code } = error as { code: number };
  return id === undefined ? { code } : { id, code };
}

test("a connection that speaks both eras does what the model does", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const { server } = createTarget();
      const peer = createRawPeer(server);
      const model = new Model();
      for (const [at, step] of sequence.entries()) {
        const from = peer.received.length;
        const { send, says } = model.take(step);
        if (step.do === "update") server.resourceUpdated(step.uri);
        else if (step.do === "change") server.resourcesChanged();
        else peer.send(send);
        await arrival(peer, from + says.length);
        await calm();
        expect(peer.received.slice(from).map(toSaid), `step ${at + 1}: ${JSON.stringify(step)}`).toEqual(says);
      }
      peer.close();
    }),
    { seed, numRuns: Math.ceil(250 * times) },
  );
});

test("two connections to one server know nothing of one another", async () => {
  await fc.assert(
    fc.asyncProperty(steps, steps, async (left, right) => {
      const { server } = createTarget();
      const sides = [left, right].map((sequence) => ({ sequence, peer: createRawPeer(server), model: new Model() }));
      for (let at = 0; at < Math.max(left.length, right.length); at++) {
        for (const { sequence, peer, model } of sides) {
          const step = sequence[at];
          // Changes concern both sides; the other test has them.
          if (!step || step.do === "update" || step.do === "change") continue;
          const counts = sides.map((side) => side.peer.received.length);
          const { send, says } = model.take(step);
          peer.send(send);
          await arrival(peer, (counts[sides.findIndex((side) => side.peer === peer)] as number) + says.length);
          await calm();
          for (const [index, side] of sides.entries()) {
            const heard = side.peer.received.slice(counts[index]).map(toSaid);
            expect(heard, `step ${at + 1}: ${JSON.stringify(step)}`).toEqual(side.peer === peer ? says : []);
          }
        }
      }
      for (const { peer } of sides) peer.close();
    }),
    { seed, numRuns: Math.ceil(60 * times) },
  );
});
