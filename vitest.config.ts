// Tests run on the source: the `plenum-source` export condition leads `plenum` to packages/plenum/src.
import { defineConfig } from "vitest/config";

const conditions = ["plenum-source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
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
      { extends: true, test: { name: "budget", include: ["test/budget/**/*.test.ts"] } },
    ],
  },
});
