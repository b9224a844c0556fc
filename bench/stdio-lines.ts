// What a long message on stdio costs: CPU time per byte at 8, 16, 32 and 64 MB, in one run, minimums of interleaved
// rounds. Linear time means that the ratio of the dearest to the cheapest is near 1; `--check` fails at 1.5.
// Usage: node --conditions=plenum-source --import tsx bench/stdio-lines.ts
import { measureLinear, paths, ratioOf, sizes } from "../test/stdio/linear.ts";

const rounds = 7;
const costs = await measureLinear(rounds);
console.log(`CPU ns/byte, minimums of ${rounds} rounds\n`);
console.log(`${"".padEnd(10)}${sizes.map((size) => `${size} MB`.padStart(8)).join("")}   ratio`);
for (const path of paths) {
  const measured = costs.get(path) ?? new Map();
  const cells = sizes.map((size) => (measured.get(size) ?? Number.NaN).toFixed(2).padStart(8)).join("");
  console.log(`${path.padEnd(10)}${cells}${ratioOf(measured).toFixed(2).padStart(8)}`);
  if (process.argv.includes("--check") && !(ratioOf(measured) < 1.5)) process.exitCode = 1;
}
