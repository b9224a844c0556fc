// The official clients, of both lines and in every revision that they can be made to speak, against a Plenum server over stdio.
import { describeClient, type Pair } from "./client-behaviour.ts";
import { connectOfficial as connect1 } from "./clients/sdk1.ts";
import { connectOfficial as connect2 } from "./clients/sdk2.mjs";
import { type OfficialClient, ourServer } from "./harness.ts";

const cancelled = (client: OfficialClient): number => client.stderr().split("cancelled").length - 1;

const pairs: readonly Pair[] = [
  { name: "1.x", line: "1.x", revision: "2025-11-25", connect: (on) => connect1(ourServer, on), cancelled },
  ...[
    { how: "told nothing", revision: "2025-11-25", held: "default" },
    { how: "by itself", revision: "2026-07-28", held: "auto" },
    ...["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"].map((revision) => ({
      how: `held to ${revision}`,
      revision,
      held: revision,
    })),
  ].map(
    ({ how, revision, held }): Pair => ({
      name: `2.x, ${how}`,
      line: "2.x",
      revision,
      connect: (on) => connect2(ourServer, on, held),
      cancelled,
    }),
  ),
];

for (const pair of pairs) describeClient(pair);
