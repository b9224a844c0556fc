// The options of a client, checked before anything is opened. Loaded where there are any.
import { isObject } from "../jsonrpc/message.ts";
import { assertExtensionId } from "../protocol/meta.ts";
import { logLevels } from "../protocol/model.ts";
import { isRevision, revisions } from "../protocol/revisions.ts";
import { nearestTo } from "../util/nearest.ts";
import { quote } from "../util/quote.ts";
import type { ClientOptions } from "./options.ts";

const limitOptions = [
  "timeoutMs",
  "maxTimeoutMs",
  "probeTimeoutMs",
  "connectTimeoutMs",
  "maxRounds",
  "maxPages",
  "pingTimeoutMs",
  "maxPingFailures",
] as const;

// Checked by the compiler: one that is missing here, or too many, does not compile.
const optionNames: { readonly [K in keyof Required<ClientOptions>]: true } = {
  info: true,
  revision: true,
  timeoutMs: true,
  maxTimeoutMs: true,
  probeTimeoutMs: true,
  connectTimeoutMs: true,
  signal: true,
  onElicit: true,
  onElicitUrl: true,
  onSample: true,
  sampleTools: true,
  sampleContext: true,
  roots: true,
  extensions: true,
  asksPerMinute: true,
  maxRounds: true,
  onLog: true,
  logLevel: true,
  onListChanged: true,
  onResourceUpdated: true,
  onStateChange: true,
  onWarning: true,
  pingIntervalMs: true,
  pingTimeoutMs: true,
  maxPingFailures: true,
  restart: true,
  trusted: true,
  cache: true,
  validateOutput: true,
  maxPages: true,
};
const knownOptions: readonly string[] = Object.keys(optionNames);

/** Throws a TypeError that names the option for options that make no sense. */
export function assertOptions(options: ClientOptions): void {
  const { onSample, roots, extensions, asksPerMinute, logLevel } = options;
  const { onElicit, onElicitUrl, onLog, onListChanged, onResourceUpdated, onStateChange, onWarning } = options;
  const callbacks = {
    onElicit,
    onElicitUrl,
    onSample,
    onLog,
    onListChanged,
    onResourceUpdated,
    onStateChange,
    onWarning,
  };
  for (const [name, value] of Object.entries(callbacks))
    assert(value === undefined || typeof value === "function", `${name} must be a function`);
  const { sampleTools, sampleContext } = options;
  for (const [name, value] of Object.entries({ sampleTools, sampleContext })) {
    assert(value === undefined || typeof value === "boolean", `${name} must be true or false`);
    assert(!value || onSample, `${name} is about onSample, which is not given`);
  }
  assert(logLevel === undefined || logLevels.includes(logLevel), `logLevel must be one of ${logLevels.join(", ")}`);
  assert(
    roots === undefined || typeof roots === "function" || Array.isArray(roots),
    "roots must be a list or a function",
  );
  assert(extensions === undefined || isObject(extensions), "extensions must be an object");
  for (const [id, settings] of Object.entries(extensions ?? {})) {
    assertExtensionId(id);
    assert(isObject(settings), `extensions: ${quote(id)} must be an object`);
  }
  const { revision } = options;
  assert(revision === undefined || isRevision(revision), `revision must be one of ${revisions.join(", ")}`);
  for (const name of limitOptions) {
    const value = options[name];
    assert(value === undefined || (typeof value === "number" && value >= 0), `${name} must be a number, 0 or more`);
  }
  const stray = Object.keys(options).find((name) => !knownOptions.includes(name));
  assert(stray === undefined, `there is no option ${quote(stray ?? "")}${hintFor(stray ?? "")}`);
  const isRate = asksPerMinute === undefined || (typeof asksPerMinute === "number" && asksPerMinute > 0);
  assert(isRate, "asksPerMinute must be a number above 0");
}

function hintFor(stray: string): string {
  if (stray === "headers" || stray === "fetch") return `: it stands beside the url: connect({ url, ${stray} })`;
  const nearest = nearestTo(stray, knownOptions);
  return nearest ? `: did you mean "${nearest}"?` : `; there are ${knownOptions.join(", ")}`;
}

function assert(holds: unknown, problem: string): void {
  if (!holds) throw new TypeError(`connect: ${problem}`);
}
