// What a client hears from its server: notifications are handed to the application, and so are questions, by what the first of
// them loads. Blind to era and transport.
import type { JsonObject } from "../jsonrpc/message.ts";
import type { ClientCapabilities, Implementation, LogLevel, Root } from "../protocol/model.ts";
import type { Listener } from "../protocol/remote.ts";
import { callBack } from "../util/call-back.ts";
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

const listChanged = /^notifications\/(tools|resources|prompts)\/list_changed$/;

/** Which list a notification says is another now. */
export function listOf(method: string): "tools" | "resources" | "prompts" | undefined {
  return listChanged.exec(method)?.[1] as ReturnType<typeof listOf>;
}

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
    callBack(
      () => (onWarning ? onWarning(problem) : console.warn(`plenum: ${problem}`)),
      () => {},
    );
  };
  /** A callback that fails is the application's own trouble, never the connection's. */
  const tell = (name: string, run: () => unknown): void => {
    callBack(run, (problem) => warn(`${name} failed: ${problem}`));
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
      const kind = listOf(method);
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

function toLogEntry({ level, logger, data }: JsonObject): { level: LogLevel; logger?: string; data: unknown } {
  return { level: level as LogLevel, ...(typeof logger === "string" && { logger }), data };
}
