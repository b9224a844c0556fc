// Cold start: from the start of the process to the answer to initialize, over stdio.
import type { Case, Program, Target } from "../case.ts";
import { initializeParams } from "../drive/http.ts";
import { cpuMs, rssMb } from "../drive/machine.ts";
import { startNode } from "../drive/process.ts";
import { round } from "../drive/statistics.ts";
import { StdioPeer } from "../drive/stdio.ts";

const nodeAlone = "node -e 0";

interface Start {
  readonly target: Target;
  /** None: node by itself. */
  readonly program: Program | undefined;
}

export const cold: Case<Start> = {
  name: "cold",
  help: "cold start over stdio: from the start of the process to the answer to initialize",
  better: { startMs: "low", cpuMs: "low" },
  repeats: 15,
  variants: ({ name, stdio, programs }) => [
    ...(stdio ? ["stdio"] : []),
    ...Object.keys(programs?.cold ?? {}),
    ...(name === "bare" ? [nodeAlone] : []),
  ],
  baseline: () => "stdio",
  async setup(target, variant) {
    if (variant === nodeAlone) return { target, program: undefined };
    return { target, program: variant === "stdio" ? target.stdio : target.programs?.cold?.[variant] };
  },
  async measure({ target, program }) {
    const started = performance.now();
    if (!program) {
      await startNode(["-e", "0"]).ended;
      return { startMs: round(performance.now() - started), cpuMs: null, rssMb: null };
    }
    const peer = new StdioPeer(target, program);
    try {
      await peer.request("initialize", initializeParams);
      const startMs = performance.now() - started;
      return { startMs: round(startMs), cpuMs: round(cpuMs(peer.pid)), rssMb: round(rssMb(peer.pid), 1) };
    } finally {
      await peer.close();
    }
  },
  teardown() {},
};
