// Runs one client in a process of its own: `client-runner.mjs <module> <options as JSON>`. Prints what it measured as one line.
import { pathToFileURL } from "node:url";

const [, , file, json] = process.argv;
const options = JSON.parse(json);
const { connect } = await import(pathToFileURL(file).href);

const started = performance.now();
const client = await connect(options);
const connectMs = performance.now() - started;
let last = 0;

async function call() {
  const text = `msg-${last++}`;
  const result = await client.call(text);
  if (result?.content?.[0]?.text !== text) throw new Error(`a wrong answer: ${JSON.stringify(result)?.slice(0, 300)}`);
}

/** So many calls in flight, for so long. The driver makes percentiles of the times. */
async function load(inFlight, ms) {
  const times = [];
  const cpu = process.cpuUsage();
  const from = performance.now();
  const worker = async () => {
    for (let now = performance.now(); now - from < ms; ) {
      await call();
      const after = performance.now();
      times.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const wallMs = performance.now() - from;
  const { user, system } = process.cpuUsage(cpu);
  return { count: times.length, wallMs, cpuUs: (user + system) / times.length, times };
}

await load(64, options.warmMs);
await load(1, options.warmMs / 2);
const sequential = await load(1, options.ms / 2);
const parallel = await load(64, options.ms);
// The median is enough of many thousand times.
for (const one of [sequential, parallel]) one.times = one.times.filter((_, i) => i % 10 === 0);
await new Promise((resolve) =>
  process.stdout.write(`${JSON.stringify({ connectMs, sequential, parallel })}\n`, resolve),
);
// A child that is waited for counts as ours when the driver asks who used the machine.
await Promise.race([client.close?.(), new Promise((resolve) => setTimeout(resolve, 1_000))]);
process.exit(0);
