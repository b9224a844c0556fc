// A client and a server in one process, connected in memory.
import type { Case, ClientModule, Target } from "../case.ts";
import { runClient } from "../drive/client.ts";

interface Pair {
  readonly target: Target;
  readonly module: ClientModule;
}

export const inproc: Case<Pair> = {
  name: "inproc",
  help: "client and server in one process: 64 calls in flight, and one after the other",
  better: { perSecond: "high", sequentialPerSecond: "high", cpuUs: "low" },
  variants: ({ inproc: pairs }) => Object.keys(pairs ?? {}),
  baseline: () => "pair",
  isPaired: true,
  repeats: 5,
  async setup(target, variant) {
    const module = target.inproc?.[variant];
    if (!module) throw new Error(`${target.name} has no pair ${variant}`);
    return { target, module };
  },
  measure: ({ target, module }, { roundMs }) => runClient(target, module, { ms: roundMs }),
  teardown() {},
};
