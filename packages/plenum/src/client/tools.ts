// A server's tools as its client knows them: listed, remembered, called. Their definitions tell which arguments travel in
// headers too, what their results must look like, and what may be called a second time.
import type { Mirror } from "../jsonrpc/channel.ts";
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Result } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import { hasHeaderMark } from "../protocol/header-mark.ts";
import type * as HeaderParams from "../protocol/header-params.ts";
import type { CallToolResult, Tool } from "../protocol/model.ts";
import { isPeerError } from "../protocol/outcome.ts";
import { createLimit, within } from "../util/abort.ts";
import { reasonOf } from "../util/call-back.ts";
import { quote } from "../util/quote.ts";
import { toWaitMs } from "./line.ts";
import type { CallOptions } from "./options.ts";
import { createOutputs } from "./output.ts";
import type { List } from "./pages.ts";
import { type ToolResult, toToolResult } from "./result.ts";
import { hintsOf } from "./tool-hints.ts";

/** What is made of a result, in the turn in which it is read. */
type Finish<T> = (result: Result) => T | Promise<T>;

/** What is made of a page, and of when it was asked for. */
export type Learn = (page: Result, generation: number) => Result | Promise<Result>;

type Marks = ReturnType<typeof HeaderParams.readHeaderParams>;

export interface ToolsGround {
  readonly warn: (problem: string) => void;
  /** Arguments that are marked travel beside the body, on the connection of now. */
  readonly mirrors: () => boolean;
  /** They may on another connection. */
  readonly mayMirror: boolean;
  /** Results are checked, in the revision of now. */
  readonly checks: () => boolean;
  /** The server's word on its tools is believed. */
  readonly trusted: boolean;
  /** `learn` is given every page, and makes of it what is shown. */
  readonly list: (given: CallOptions | undefined, learn: Learn) => List<Tool>;
  /** `tools/call`. */
  readonly send: <T>(params: JsonObject, given: CallOptions, isSafe: boolean, finish: Finish<T>) => Promise<T>;
}

export interface Tools {
  readonly generation: number;
  list(given?: CallOptions): List<Tool>;
  call(name: string, args: JsonObject | undefined, given: CallOptions): Promise<ToolResult>;
  /** The same as any other request: what comes back is not looked at. */
  request<T>(params: JsonObject, given: CallOptions, isSafe: boolean, finish: Finish<T>): Promise<T>;
  readonly mirror: Mirror;
  /** The list has changed. */
  forget(): void;
}

const none = {};
const noMarks: Marks = { params: [] };

// What is looked up beside a call: a server that takes longer, or has more, has its results unchecked.
const learnMs = 60_000;
const maxLearntPages = 100;

export function createTools({ warn, mirrors, mayMirror, checks, trusted, list, send }: ToolsGround): Tools {
  const outputs = createOutputs({ warn });
  // A definition that is listed again is often the same object.
  const marked = new WeakMap<Tool, Marks>();
  let headers: typeof HeaderParams | undefined;
  let learning: Promise<unknown> | undefined;
  /** When all tools were listed last: what is unknown since then is not there. */
  let learntAt = -1;

  function marksOf(tool: Tool): Marks {
    const read = marked.get(tool) ?? headers?.readHeaderParams(tool) ?? noMarks;
    marked.set(tool, read);
    return read;
  }

  /** What a page of tools tells: their schemas. Tools that cannot be called here are left out, with the reason. */
  function learnPage(page: Result, generation: number): Result | Promise<Result> {
    const tools = page.tools as readonly Tool[];
    // Most servers mark nothing: then nothing has to be loaded, and no schema is walked.
    if (mayMirror && !headers && tools.some(hasHeaderMark))
      return import("../protocol/header-params.ts").then((loaded) => {
        headers = loaded;
        return learnPage(page, generation);
      });
    outputs.learn(tools, generation);
    if (!headers || !mirrors()) return page;
    const callable = tools.filter((tool) => {
      const read = marksOf(tool);
      if ("problem" in read) warn(`The tool ${quote(tool.name)} is left out: ${read.problem}`);
      return !("problem" in read);
    });
    return callable.length === tools.length ? page : { ...page, tools: callable };
  }

  const listTools = (given?: CallOptions): List<Tool> => list(given, learnPage);

  /**
   * Asks for the tools' schemas, one time for all who want them; page by page, so that nothing but they is kept. Gives what it
   * failed with where no call will fare better: nobody is let in.
   */
  async function learnAll(fresh: boolean): Promise<unknown> {
    const { generation } = outputs;
    const { signal, release } = createLimit(learnMs);
    let pages = 0;
    try {
      for await (const _ of listTools({ signal, fresh }).pages()) if (++pages === maxLearntPages) break;
      learntAt = generation;
    } catch (error) {
      if (isPeerError(error) && (error.data as { readonly status?: unknown } | undefined)?.status === 401) return error;
      warn(`The output schemas of the tools are not known: ${reasonOf(error)}`);
    } finally {
      release();
    }
    return undefined;
  }

  /**
   * The same within the limits of a call.
   * @param without what is done without it if it takes too long
   */
  async function learn(
    name: string,
    fresh: boolean,
    given: CallOptions,
    without: (name: string) => string,
  ): Promise<unknown> {
    const waitMs = toWaitMs(given);
    learning ??= learnAll(fresh).finally(() => {
      learning = undefined;
    });
    let isLate = false;
    try {
      return await within(learning, waitMs, given.signal, (isOver, cause) => {
        isLate = isOver;
        return new McpError("aborted", `tools/call ${quote(name)} was aborted`, { cause });
      });
    } catch (error) {
      if (!isLate) throw error;
      warn(`${without(quote(name))}: its schema did not come in ${waitMs} ms`);
    }
    return undefined;
  }

  const isNews = (name: string): boolean => !outputs.knows(name) && learntAt !== outputs.generation;

  function headerValues({ params }: Parameters<Mirror>[0]): { readonly [header: string]: string } {
    const tool = typeof params?.name === "string" ? outputs.definition(params.name) : undefined;
    if (!tool || !headers) return none;
    const read = marksOf(tool);
    if ("params" in read)
      return read.params.length === 0
        ? none
        : headers.toHeaderValues(read.params, isObject(params?.arguments) ? params.arguments : {});
    throw new McpError(
      "invalid_params",
      `The tool ${quote(tool.name)} cannot be called over HTTP: ${read.problem}. Tell the server's author`,
    );
  }

  function request<T>(params: JsonObject, given: CallOptions, isSafe: boolean, finish: Finish<T>): Promise<T> {
    const { name } = params;
    if (!mirrors() || typeof name !== "string") return send(params, given, isSafe, finish);
    return requestMirrored(name, params, given, isSafe, finish);
  }

  async function requestMirrored<T>(
    name: string,
    params: JsonObject,
    given: CallOptions,
    isSafe: boolean,
    finish: Finish<T>,
  ): Promise<T> {
    const since = Date.now();
    const refusal = isNews(name) ? await learn(name, false, given, withoutHeaders) : undefined;
    if (refusal) throw refusal;
    try {
      return await send(params, restOf(given, since, name), isSafe, finish);
    } catch (error) {
      if (!isPeerError(error, headerMismatch)) throw error;
      // The tool is another one by now. The server has refused the call before it ran.
      await learn(name, true, restOf(given, since, name), withoutHeaders);
      return send(params, restOf(given, since, name), isSafe, finish);
    }
  }

  /** A result that cannot be judged by what is known of its tool, or that seems to be wrong. */
  async function examine(
    name: string,
    result: Result,
    given: CallOptions,
    wasKnown: boolean,
    found: ReturnType<typeof outputs.check>,
  ): Promise<ToolResult> {
    const check = () => outputs.check(name, result as unknown as CallToolResult);
    if (found === undefined) await learn(name, false, given, withoutCheck);
    let problem = await (found ?? check());
    // The tool may be another one by now, without anybody having said so.
    if (problem && wasKnown) {
      await learn(name, true, given, withoutCheck);
      problem = await check();
    }
    if (problem) throw new McpError("invalid_result", `tools/call ${quote(name)}: ${problem}`);
    return toToolResult(result);
  }

  return {
    get generation() {
      return outputs.generation;
    },
    list: listTools,
    request,
    mirror: (request) => (request.method === "tools/call" ? headerValues(request) : none),
    forget: outputs.forget,
    call(name, args, given) {
      const isSafe = trusted && hintsOf(outputs.definition(name)).idempotent;
      const wasKnown = outputs.knows(name);
      return request(args ? { name, arguments: args } : { name }, given, isSafe, (result) => {
        if (!checks()) return toToolResult(result);
        const isUnknown = result.structuredContent !== undefined && isNews(name);
        const found = isUnknown ? undefined : outputs.check(name, result as unknown as CallToolResult);
        return isUnknown || found ? examine(name, result, given, wasKnown, found) : toToolResult(result);
      });
    },
  };
}

const headerMismatch = -32020;

const withoutHeaders = (tool: string): string => `${tool} is called without headers of its own`;
const withoutCheck = (tool: string): string => `The result of ${tool} is not checked`;

/** What is left of the time that a call may take in all. Throws McpError `timeout` where that is nothing. */
function restOf(given: CallOptions, since: number, name: string): CallOptions {
  const { maxTimeoutMs = 0 } = given;
  if (!(maxTimeoutMs > 0)) return given;
  const left = since + maxTimeoutMs - Date.now();
  // A timer may be a little early.
  if (left > 1) return { ...given, maxTimeoutMs: left };
  throw new McpError(
    "timeout",
    `tools/call ${quote(name)} was not sent in ${maxTimeoutMs} ms: its definition did not come`,
  );
}
