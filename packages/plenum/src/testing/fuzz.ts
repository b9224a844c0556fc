// Calls one's own tools with arguments that are made up from their schemas, right ones and wrong ones, and tells what should not be:
// errors that nobody meant, results that break their schema, arguments that are taken or refused against the schema, silence.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../protocol/endpoint.ts";
import type { Tool } from "../protocol/model.ts";
import type { Revision } from "../protocol/revisions.ts";
import { reasonOf } from "../util/call-back.ts";
import { type FuzzStage, openStage, type Ran } from "./fuzz-stage.ts";
import { createMaker, type Maker } from "./made-values.ts";
import { createRandom } from "./random.ts";
import { listSimpler } from "./simpler-values.ts";

export type FuzzKind =
  /** The handler threw what is no ToolError: the caller is told an id and nothing else. */
  | "internal_error"
  /** The result is not what the output schema says. */
  | "invalid_output"
  /** The schema allows the arguments, and the tool does not. */
  | "valid_refused"
  /** The schema does not allow the arguments, and the tool ran. */
  | "invalid_accepted"
  /** No answer in `timeoutMs`. */
  | "hang"
  /** A promise was rejected that nobody waits for. */
  | "unhandled_rejection"
  /** The schema cannot be used, or nothing was found that fits it. */
  | "unusable_schema";

export interface FuzzFailure {
  readonly kind: FuzzKind;
  readonly tool: string;
  /** As simple as was found. */
  readonly arguments: JsonObject;
  readonly message: string;
  /** What was thrown, where that is known: a server with `onError` keeps it to itself. */
  readonly cause: unknown;
  /** With it, and the same options, the same arguments are made. */
  readonly seed: number;
  /** How often the same was found. */
  readonly times: number;
}

export interface FuzzOptions {
  /** Calls of each tool. Default 100. */
  readonly runs?: number;
  /** Default: another each time, told in the report. */
  readonly seed?: number;
  /** Names of the tools to call. Default: all. */
  readonly tools?: readonly string[];
  /** How long one call may take. Default 2000. */
  readonly timeoutMs?: number;
  /** Whether it is as it should be: then it is no failure. */
  readonly isExpected?: (failure: Omit<FuzzFailure, "times">) => boolean;
  /** Default: the newest. */
  readonly revision?: Revision;
  /** Who calls, where tools have scopes. */
  readonly auth?: Partial<AuthInfo>;
}

export interface FuzzReport {
  readonly seed: number;
  readonly calls: number;
  readonly failures: readonly FuzzFailure[];
  /** For people. */
  format(): string;
}

/**
 * Calls the tools of a server in memory. Runs their handlers: with all that they do. Does not throw: what goes wrong is in the report.
 * While it runs, `console.error` and unhandled rejections of the process are listened to: run one at a time.
 */
export async function fuzzTools(server: Endpoint, options: FuzzOptions = {}): Promise<FuzzReport> {
  const { seed = Math.floor(Math.random() * 0x7fffffff), timeoutMs = 2000, revision, auth } = options;
  const failures: FuzzFailure[] = [];
  let calls = 0;
  let stage: FuzzStage | undefined;
  try {
    stage = await openStage(server, { timeoutMs, revision, auth });
    const all = await stage.client.listTools().all();
    const wanted = options.tools ?? all.map(({ name }) => name);
    for (const name of wanted) {
      const tool = all.find((one) => one.name === name);
      if (tool) calls += await fuzzTool(tool, stage, seed, options, failures);
      else failures.push(toFailure("unusable_schema", name, {}, "There is no such tool", undefined, seed));
    }
  } catch (error) {
    failures.push(toFailure("unusable_schema", "*", {}, `The tools cannot be listed: ${reasonOf(error)}`, error, seed));
  } finally {
    await stage?.close().catch(() => {});
  }
  return { seed, calls, failures, format: () => format(seed, calls, failures) };
}

async function fuzzTool(
  { name, inputSchema }: Tool,
  stage: FuzzStage,
  seed: number,
  { runs = 100, isExpected = () => false }: FuzzOptions,
  failures: FuzzFailure[],
): Promise<number> {
  let calls = 0;
  const note = (failure: FuzzFailure): void => {
    if (isExpected(failure)) return;
    const at = failures.findIndex((one) => isAlike(one, failure));
    const known = failures[at];
    if (known) failures[at] = { ...known, times: known.times + 1 };
    else failures.push(failure);
  };
  let maker: Maker;
  try {
    maker = createMaker(inputSchema as JsonObject);
  } catch (error) {
    note(toFailure("unusable_schema", name, {}, reasonOf(error), error, seed));
    return 0;
  }
  const attempt = async (args: JsonObject, isValid: boolean, run: number): Promise<Fault | undefined> => {
    calls++;
    return judge(await stage.call(name, args, createRandom(seed, name, run, "answers")), isValid);
  };
  for (let run = 0; run < runs; run++) {
    const random = createRandom(seed, name, run);
    const isValid = run % 2 === 0;
    const made = isValid ? maker.makeValid(random) : maker.makeInvalid(random);
    if (!made) {
      if (isValid && run === 0) {
        note(toFailure("unusable_schema", name, {}, "No arguments were found that fit the schema", undefined, seed));
        return calls;
      }
      continue;
    }
    const args = made.value as JsonObject;
    const fault = await attempt(args, isValid, run);
    if (!fault) continue;
    const isKnown = failures.some((one) =>
      isAlike(one, toFailure(fault.kind, name, args, fault.message, fault.cause, seed)),
    );
    // A tool that hangs is not called again for the sake of beauty.
    const simplest =
      isKnown || fault.kind === "hang"
        ? { args, fault }
        : await simplify(
            { args, fault },
            (less) => maker.isValid(less) === isValid,
            (less) => attempt(less, isValid, run),
          );
    note(toFailure(simplest.fault.kind, name, simplest.args, simplest.fault.message, simplest.fault.cause, seed));
  }
  return calls;
}

interface Fault {
  readonly kind: FuzzKind;
  readonly message: string;
  readonly cause: unknown;
}

function judge({ outcome, message, cause }: Ran, isValid: boolean): Fault | undefined {
  if (outcome === "hung") return { kind: "hang", message, cause };
  if (outcome === "stray") return { kind: "unhandled_rejection", message, cause };
  if (outcome === "refused") return isValid ? { kind: "valid_refused", message, cause } : undefined;
  if (!isValid) return { kind: "invalid_accepted", message: "The tool ran, though its schema forbids it", cause };
  if (outcome === "broken" || (outcome === "masked" && /what its output schema does not allow/.test(message)))
    return { kind: "invalid_output", message, cause };
  return outcome === "masked" ? { kind: "internal_error", message, cause } : undefined;
}

interface Found {
  readonly args: JsonObject;
  readonly fault: Fault;
}

/** Calls that finding simpler arguments may take. */
const maxSimplifying = 80;

async function simplify(
  found: Found,
  isSameSide: (args: JsonObject) => boolean,
  attempt: (args: JsonObject) => Promise<Fault | undefined>,
): Promise<Found> {
  let best = found;
  let left = maxSimplifying;
  for (let isSimpler = true; isSimpler && left > 0; ) {
    isSimpler = false;
    for (const less of listSimpler(best.args) as Iterable<JsonObject>) {
      if (!isSameSide(less)) continue;
      if (left-- <= 0) break;
      const fault = await attempt(less);
      if (fault?.kind !== best.fault.kind) continue;
      best = { args: less, fault };
      isSimpler = true;
      break;
    }
  }
  return best;
}

/** The same fault, whatever the values that its message names. */
function isAlike(a: FuzzFailure, b: FuzzFailure): boolean {
  const words = ({ message }: FuzzFailure): string => message.replace(/"[^"]*"|[\d.e+-]+/g, "").slice(0, 60);
  return a.tool === b.tool && a.kind === b.kind && words(a) === words(b);
}

function toFailure(
  kind: FuzzKind,
  tool: string,
  args: JsonObject,
  message: string,
  cause: unknown,
  seed: number,
): FuzzFailure {
  return { kind, tool, arguments: args, message, cause, seed, times: 1 };
}

const sentences: { readonly [K in FuzzKind]: string } = {
  internal_error: "throws what is no ToolError",
  invalid_output: "returns what its output schema does not allow",
  valid_refused: "refuses arguments that its schema allows",
  invalid_accepted: "accepts arguments that its schema forbids",
  hang: "does not answer",
  unhandled_rejection: "leaves a rejected promise behind",
  unusable_schema: "has a schema that nothing can be made for",
};

function format(seed: number, calls: number, failures: readonly FuzzFailure[]): string {
  const parts = failures.map(
    ({ kind, tool, arguments: args, message, times }) =>
      `${tool} ${sentences[kind]} (${kind}, ${times} ${times === 1 ? "time" : "times"})\n` +
      `  arguments: ${JSON.stringify(args)}\n  ${message}\n`,
  );
  const count = failures.length === 1 ? "1 failure" : `${failures.length || "no"} failures`;
  return `${parts.join("")}${calls} calls with seed ${seed}: ${count}.`;
}
