// Reads a CPU profile: self time by package, then the functions with the most self time, then with all that they call.
//   node bench/drive/profile-report.mjs .cache/profiles/plenum-modern-json.cpuprofile [how many functions]
import { readFileSync } from "node:fs";

const [, , file, most = "25"] = process.argv;
if (!file) {
  console.error("usage: node bench/drive/profile-report.mjs <file.cpuprofile> [how many functions]");
  process.exit(2);
}
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8"));
const byId = new Map(nodes.map((node) => [node.id, node]));
for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node;

/** The start and the compiler are no part of what is looked for. */
const skipped = Math.floor(samples.length / 4);

/** The parts of Node, by what is found in the name of a module. */
const parts = [
  [/undici/, "node: undici (fetch, Request, Response, Headers)"],
  [/webstreams/, "node: web streams"],
  [/http/, "node: http"],
  [/internal\/streams|node:stream/, "node: streams"],
  [/net|stream_base/, "node: net"],
  [/event_target|abort_controller/, "node: EventTarget, AbortController"],
  [/internal\/url|node:url/, "node: URL"],
  [/async_hooks|process\/task|process\/promises|timers/, "node: promises, timers"],
];

const shorten = (url) =>
  url
    .replace(/^file:\/\//, "")
    .replace(/^.*\/node_modules\//, "")
    .replace(/^.*\/packages\/plenum\/dist\//, "plenum/")
    .replace(/^.*\/bench\//, "bench/");

function groupOf({ url, functionName }) {
  if (functionName === "(garbage collector)") return "(garbage collector)";
  if (functionName === "(program)") return "(program: native code, system calls)";
  if (url.startsWith("node:")) return parts.find(([pattern]) => pattern.test(url))?.[1] ?? "node: other";
  if (url.includes("/packages/plenum/dist/")) return "plenum";
  if (url.includes("/node_modules/")) {
    const [first, second] = shorten(url).split("/");
    return first.startsWith("@") ? `${first}/${second}` : first;
  }
  return url ? "the server's own file" : "(built in: JSON, RegExp, …)";
}

function labelOf({ callFrame: { functionName, url, lineNumber } }) {
  return `${functionName || "(anonymous)"}  ${shorten(url)}${url && lineNumber >= 0 ? `:${lineNumber + 1}` : ""}`;
}

const self = new Map();
for (let i = skipped; i < samples.length; i++) self.set(samples[i], (self.get(samples[i]) ?? 0) + (timeDeltas[i] ?? 0));

const groups = new Map();
const functions = new Map();
const inclusive = new Map();
const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time);
let busy = 0;
let idle = 0;
for (const [id, time] of self) {
  const node = byId.get(id);
  if (node.callFrame.functionName === "(idle)") {
    idle += time;
    continue;
  }
  busy += time;
  add(groups, groupOf(node.callFrame), time);
  add(functions, labelOf(node), time);
  const labels = new Set();
  for (let one = node; one; one = one.parent) labels.add(labelOf(one));
  for (const label of labels) add(inclusive, label, time);
}

function show(title, map, count) {
  console.log(`\n${title}`);
  const sorted = [...map].filter(([key]) => !key.startsWith("(root)")).sort(([, a], [, b]) => b - a);
  for (const [key, time] of sorted.slice(0, count))
    console.log(`${((100 * time) / busy).toFixed(1).padStart(6)} %  ${key}`);
}

console.log(`busy ${(busy / 1000).toFixed(0)} ms, idle ${(idle / 1000).toFixed(0)} ms; the first quarter is left out`);
show("self time by package", groups, 20);
show("functions by self time", functions, Number(most));
show("functions with all that they call", inclusive, 2 * Number(most));
