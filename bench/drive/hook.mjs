// Loaded before a server whose memory or profile is looked at. SIGUSR2: everything that can be collected is, and "HEAP <used>
// <rss>" is written to stderr. SIGTERM: a clean end, which writes a CPU profile.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => {
  for (let i = 0; i < 3; i++) collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.stderr.write(`HEAP ${heapUsed + external} ${rss}\n`);
});
process.on("SIGTERM", () => process.exit(0));
