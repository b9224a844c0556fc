// Tests run on the source: the `plenum-source` export condition leads `plenum` to packages/plenum/src.
import { defineConfig } from "vitest/config";

const conditions = ["plenum-source"];

/** The feature suites once more, over HTTP: the peer in test/suites/peer.ts looks at the variable. */
const httpSuites = ["http", "http-stream", "web", "web-stream", "sessionless"].map((transport) => ({
  extends: true as const,
  test: {
    name: `suite-${transport}`,
    include: ["test/suites/**/*.test.ts"],
    testTimeout: 60_000,
    // Cheaper than processes: the suites are many small files.
    pool: "threads" as const,
    // They share no state but the library's modules, which would be loaded anew for each file.
    isolate: false,
    env: { PLENUM_SUITE_TRANSPORT: transport },
  },
}));

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    // Most tests wait for others, processes and sockets: no core need be kept for the runner.
    maxWorkers: "100%",
    // `unit` and `budget` are what `npm run check` runs, `budget` by itself; `suite` crosses rooms and takes longer.
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "test/house/**/*.test.ts"],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: "suite",
          include: ["test/**/*.test.ts"],
          exclude: ["test/house/**", "test/budget/**"],
          testTimeout: 60_000,
        },
      },
      ...httpSuites,
      { extends: true, test: { name: "budget", include: ["test/budget/**/*.test.ts"] } },
    ],
  },
});
