// A step of a handler: something done once per call. What comes of it is JSON, its failure too, so that a handler sees
// the same in both eras, and in a run in which it is remembered rather than done. Loaded by the first step.
import { toJsonCopy } from "../util/json-copy.ts";
import { assertOpen, type ErrorCode, McpError, ToolError } from "./errors.ts";

interface Failure {
  readonly name: string;
  readonly message: string;
  /** It is a ToolError, and not only called so: what the model may read. */
  readonly isForModel?: true;
  /** Of an McpError. */
  readonly code?: ErrorCode;
  readonly rpcCode?: number | undefined;
  readonly data?: unknown;
}

/** How a step ended, as JSON. A value that is absent is undefined. */
export type StepOutcome = { readonly value?: unknown } | { readonly failure: Failure };

/**
 * Does it. Only what is no outcome of the step itself is thrown: `input_required`, and a TypeError for a step without
 * a name.
 * @param onFailure told what was thrown
 */
export async function takeStep(
  name: string,
  run: () => unknown,
  onFailure?: (error: unknown) => void,
): Promise<StepOutcome> {
  if (typeof name !== "string" || name === "") throw new TypeError("ctx.step takes a name and a function");
  try {
    const value = await run();
    return value === undefined ? {} : { value: toJsonCopy(value, `What the step "${name}" gives back`) };
  } catch (error) {
    if (isSuspension(error)) throw error;
    onFailure?.(error);
    return { failure: toFailure(error) };
  }
}

/** What the handler gets: a value of its own, or the failure thrown. */
export function toValue(outcome: StepOutcome, cause?: unknown): unknown {
  if ("failure" in outcome) throw toError(outcome.failure, cause);
  return outcome.value === undefined ? undefined : structuredClone(outcome.value);
}

/** Whether it is the error that suspends a call. */
export function isSuspension(error: unknown): boolean {
  try {
    return error instanceof McpError && error.code === "input_required";
  } catch {
    // A proxy may throw when it is looked at.
    return false;
  }
}

/** The whole of it, where nothing has to be remembered. Nothing is done for a call that has ended. */
export async function runStep(name: string, run: () => unknown, link: { readonly ended: boolean }): Promise<unknown> {
  assertOpen(link);
  let cause: unknown;
  const outcome = await takeStep(name, run, (error) => {
    cause = error;
  });
  return toValue(outcome, cause);
}

/** Never throws, whatever was thrown: a failure that is not recorded is a step that is taken again. */
function toFailure(error: unknown): Failure {
  try {
    if (!(error instanceof Error)) return { name: "Error", message: String(error) };
    const name = typeof error.name === "string" ? error.name : "Error";
    const message = String(error.message);
    if (error instanceof ToolError) return { name, message, isForModel: true };
    if (!(error instanceof McpError)) return { name, message };
    const { code, rpcCode } = error;
    return { name, message, code, rpcCode, ...dataOf(error) };
  } catch {
    return { name: "Error", message: "The step threw something that cannot be told" };
  }
}

/** Without what JSON lacks: no peer could be told of it, either. */
function dataOf({ data }: McpError): { data?: unknown } {
  try {
    return data === undefined ? {} : { data: toJsonCopy(data, "An error's data") };
  } catch {
    return {};
  }
}

function toError({ name, message, isForModel, code, rpcCode, data }: Failure, cause: unknown): Error {
  if (code) return new McpError(code, message, { data, cause, ...(rpcCode !== undefined && { rpcCode }) });
  const options = cause === undefined ? undefined : { cause };
  if (isForModel) return new ToolError(message, options);
  return Object.assign(new Error(message, options), { name });
}
