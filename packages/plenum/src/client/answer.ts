// What a client hears from its server: notifications are handed to the application, and so are questions, by what the first of
// them loads. Blind to era and transport.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { ClientCapabilities, Implementation, LogLevel, Root } from "../protocol/model.ts";
import type { Listener } from "../protocol/remote.ts";
import { reasonOf } from "../util/call-back.ts";
import type { ClientOptions, RootsOption } from "./options.ts";
import type { Answering } from "./questions.ts";

export interface ListenerHooks {
  /** The server says that a list or a resource is another now. Told before the application is. */
  heard(method: string, params: JsonObject): void;
  /** Who asks, as it says itself; undefined as long as it has not. */
  server?(): Implementation | undefined;
  /** Checks a list of roots, where roots were given. Throws a TypeError. */
  readonly toRoots?: ((list: unknown) => readonly Root[]) | undefined;
}

export interface ClientListener extends Listener {
  /** Other roots from now on. Throws a TypeError for roots that are not valid, and where `roots` was not given before. */
  setRoots(roots: RootsOption): void;
}

const changes: ReadonlyMap<string, "tools" | "resources" | "prompts"> = new Map([
  ["notifications/tools/list_changed", "tools"],
  ["notifications/resources/list_changed", "resources"],
  ["notifications/prompts/list_changed", "prompts"],
]);

/** Throws a TypeError for roots that are not valid. */
export function createListener(options: ClientOptions, hooks: ListenerHooks): ClientListener {
  /** A list is checked at once, what a function gives when it gives it. */
  const toProvider = (given: RootsOption): (() => unknown) => {
    if (typeof given === "function") return given;
    const list = hooks.toRoots?.(given) ?? given;
    return () => list;
  };
  const { onLog, onListChanged, onResourceUpdated, onWarning } = options;
  let roots = options.roots && toProvider(options.roots);

  const warn = (problem: string): void => {
    settle(() => (onWarning ? onWarning(problem) : console.warn(`plenum: ${problem}`))).catch(() => {});
  };
  /** A callback that fails is the application's own trouble, never the connection's. */
  const tell = (name: string, run: () => unknown): void => {
    settle(run).catch((error) => warn(`${name} failed: ${reasonOf(error)}`));
  };

  let answering: Promise<Answering> | undefined;
  const loadAnswering = (): Promise<Answering> => {
    answering ??= import("./questions.ts").then(({ createAnswering }) =>
      createAnswering(options, { warn, roots: () => roots, server: () => hooks.server?.() }),
    );
    return answering;
  };

  return {
    capabilities: toCapabilities(options),
    warn,

    answer: async (ask, revision, signal) => (await loadAnswering())(ask, revision, signal),
    heard(method, params) {
      const kind = changes.get(method);
      if (method === "notifications/message") tell("onLog", () => onLog?.(toLogEntry(params)));
      else if (kind) {
        tell(method, () => hooks.heard(method, params));
        tell("onListChanged", () => onListChanged?.(kind));
      } else if (method === "notifications/resources/updated") {
        tell(method, () => hooks.heard(method, params));
        tell("onResourceUpdated", () => onResourceUpdated?.(params.uri as string));
      }
    },

    setRoots(next) {
      if (!roots)
        throw new TypeError(
          "roots were not given when the client was made, so that the server cannot ask for them. Give `roots: []` then.",
        );
      roots = toProvider(next);
    },
  };
}

function toCapabilities(options: ClientOptions): ClientCapabilities {
  const { onElicit, onElicitUrl, onSample, sampleTools, sampleContext, roots, extensions } = options;
  return {
    ...((onElicit || onElicitUrl) && {
      elicitation: { ...(onElicit && { form: {} }), ...(onElicitUrl && { url: {} }) },
    }),
    ...(onSample && { sampling: { ...(sampleTools && { tools: {} }), ...(sampleContext && { context: {} }) } }),
    ...(roots && { roots: { listChanged: true } }),
    ...(extensions && { extensions }),
  };
}

/** Runs the function at once; what it throws becomes a rejection. */
async function settle(run: () => unknown): Promise<unknown> {
  return run();
}

function toLogEntry({ level, logger, data }: JsonObject): { level: LogLevel; logger?: string; data: unknown } {
  return { level: level as LogLevel, ...(typeof logger === "string" && { logger }), data };
}
