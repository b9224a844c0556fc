// CPU profiles of servers under load over HTTP, for reading: .cache/profiles/<target>-<mode>.cpuprofile. Not a measurement.
//   npm run bench -- --case profile --target plenum --mode modern-json --no-baseline
//   node bench/drive/profile-report.mjs .cache/profiles/plenum-modern-json.cpuprofile
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../test/house/source.ts";
import type { Case } from "../case.ts";
import { hookArgs } from "../drive/heap.ts";
import { type HttpServer, load, startHttp } from "../drive/http.ts";
import { stop } from "../drive/process.ts";
import { round } from "../drive/statistics.ts";

const folder = join(root, ".cache", "profiles");

export const profile: Case<HttpServer> = {
  name: "profile",
  help: "a CPU profile of each mode over HTTP with 64 in flight, in .cache/profiles; read it with bench/drive/profile-report.mjs",
  better: {},
  repeats: 1,
  isFresh: true,
  isExplicit: true,
  variants: (target) => Object.keys(target.http ?? {}),
  baseline: () => undefined,
  async setup(target, mode) {
    mkdirSync(folder, { recursive: true });
    const file = `${target.name}-${mode.replace(/[^a-z]+/g, "-")}.cpuprofile`;
    const profiling = ["--cpu-prof", "--cpu-prof-interval", "500", "--cpu-prof-dir", folder, "--cpu-prof-name", file];
    return startHttp(target, mode, { nodeArgs: [...hookArgs, ...profiling] });
  },
  async measure(server, { roundMs }) {
    const { perSecond, cpuUs } = await load(server, 64, Math.max(roundMs, 4_000), server.peer.echo());
    return { perSecond: round(perSecond, 0), cpuUs: round(cpuUs) };
  },
  // It writes the profile when it ends.
  teardown: ({ started }) => stop(started, 20_000),
};
