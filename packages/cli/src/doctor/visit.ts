// One connection to the server that is looked at: the library's client opens it, all that passes is kept, and requests are
// sent by hand beside it, right or wrong. The client lets answers pass that it does not wait for.
import {
  type Channel,
  type Client,
  type ClientOptions,
  connect,
  type JsonObject,
  type Revision,
  type Target,
} from "plenum";
import { type Message, type Single, type TapEvent, tapChannel } from "plenum/tap";

export type Answer =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly code: number; readonly message: string }
  /** It did not come. `isUnsent`: the connection was closed before it was asked for, by something else. */
  | { readonly kind: "none"; readonly why: string; readonly isUnsent?: boolean };

/** All of a list, as far as it could be had. */
export interface Listing {
  readonly items: readonly JsonObject[];
  readonly pages: number;
  /** The first answer. */
  readonly answer: Answer;
  /** What kept it from coming to an end. */
  readonly problem: string | undefined;
}

export type ListName = "tools" | "resources" | "resourceTemplates" | "prompts";

export const listMethods: { readonly [N in ListName]: string } = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
};

export const listNames = Object.keys(listMethods) as readonly ListName[];

/** What a server declares that has the list. */
export const capabilityOf: { readonly [N in ListName]: "tools" | "resources" | "prompts" } = {
  tools: "tools",
  resources: "resources",
  resourceTemplates: "resources",
  prompts: "prompts",
};

/** What was seen of a connection, whether it came to be or not. */
export interface Account {
  readonly events: readonly TapEvent[];
  /** From the start until the first message of the server; undefined while there is none. */
  readonly firstAnswerMs: number | undefined;
  /** It is closed, from either side. */
  readonly isOver: boolean;
}

export interface Visit extends Account {
  readonly revision: Revision;
  readonly client: Client;
  readonly isStateless: boolean;
  /** Whether the server declares this, such as `tools` or `resources.subscribe`. */
  declares(path: string): boolean;
  ask(method: string, params?: JsonObject, timeoutMs?: number): Promise<Answer>;
  /** The same, remembered: what was answered while the connection was open is there afterwards. */
  askOnce(method: string, params?: JsonObject): Promise<Answer>;
  /** Sends what is as it should be or not, and waits for the answer with its id. */
  askBy(message: JsonObject & { readonly id: string }, timeoutMs?: number): Promise<Answer>;
  /** All pages, remembered. Not to be called for what is not declared. */
  list(name: ListName): Promise<Listing>;
  /** The same, asked for anew. */
  listAgain(name: ListName): Promise<Listing>;
  /** Whether it answers at all. */
  isAlive(): Promise<boolean>;
  close(): Promise<void>;
}

export interface VisitOptions {
  readonly client: ClientOptions;
  /** Undefined: what both sides agree on. */
  readonly revision: Revision | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** More pages than this are taken to have no end. */
export const maxPages = 50;

/** A record that is filled from now on, and the visit, once it is open. */
export interface Attempt {
  readonly record: Account;
  readonly opened: Promise<Visit>;
}

/** Begins a visit. `opened` rejects when there is no connection to be had; what was seen until then is in `record`. */
export function beginVisit(target: Target, options: VisitOptions): Attempt {
  const events: TapEvent[] = [];
  const startedAt = Date.now();
  const record: Account = {
    events,
    get firstAnswerMs() {
      const first = events.find((event) => event.kind === "received");
      return first && first.at - startedAt;
    },
    get isOver() {
      return events.at(-1)?.kind === "closed";
    },
  };
  let channel: Channel | undefined;
  const waiting = new Map<unknown, (answer: Answer) => void>();
  const settle = (id: unknown, answer: Answer): void => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  const report = (event: TapEvent): void => {
    events.push(event);
    if (event.kind === "received") for (const one of singlesOf(event)) settle(idOf(one), toAnswer(one));
    if (event.kind === "failed") settle(event.id, { kind: "none", why: reasonOf(event.cause) });
    if (event.kind === "closed") {
      const why = event.cause === undefined ? "the connection was closed" : reasonOf(event.cause);
      for (const id of [...waiting.keys()]) settle(id, { kind: "none", why });
    }
  };
  const watched: Target = {
    ...target,
    async open(mirror) {
      channel = tapChannel(await target.open(mirror), report);
      return channel;
    },
  };
  const askBy: Visit["askBy"] = (message, timeoutMs = options.timeoutMs) =>
    new Promise((resolve, reject) => {
      const give = (answer: Answer): void => {
        clearTimeout(timer);
        options.signal.removeEventListener("abort", stop);
        resolve(answer);
      };
      const stop = (): void => {
        clearTimeout(timer);
        waiting.delete(message.id);
        reject(options.signal.reason);
      };
      const timer = setTimeout(() => {
        waiting.delete(message.id);
        resolve({ kind: "none", why: `no answer in ${timeoutMs / 1000} s` });
      }, timeoutMs);
      options.signal.addEventListener("abort", stop, { once: true });
      waiting.set(message.id, give);
      if (!channel || record.isOver)
        settle(message.id, { kind: "none", why: "the connection was closed", isUnsent: true });
      else channel.send(message as unknown as Message);
    });
  const { revision } = options;
  const opened = connect(watched, {
    ...options.client,
    ...(revision !== undefined && { revision }),
    restart: false,
    // What it would warn of is looked for by the checks.
    onWarning: () => {},
  }).then((client) => createVisit(record, client, askBy));
  return { record, opened };
}

function createVisit(record: Account, client: Client, askBy: Visit["askBy"]): Visit {
  const { revision } = client;
  const isStateless = revision >= "2026-07-28";
  let asked = 0;
  const ask: Visit["ask"] = (method, params, timeoutMs) => {
    const all = isStateless ? { ...params, _meta: { ...statelessMeta(revision), ...toObject(params?._meta) } } : params;
    return askBy({ jsonrpc: "2.0", id: `doctor-${++asked}`, method, ...(all && { params: all }) }, timeoutMs);
  };
  const answers = new Map<string, Promise<Answer>>();
  const listAgain = (name: ListName): Promise<Listing> => listAll(ask, name);
  const lists = new Map<ListName, Promise<Listing>>();
  return Object.defineProperties(
    {
      revision,
      client,
      isStateless,
      declares: (path: string) => isDeclared(client.server.capabilities, path),
      ask,
      askBy,
      askOnce(method: string, params?: JsonObject) {
        const key = JSON.stringify([method, params]);
        const kept = answers.get(key) ?? ask(method, params);
        answers.set(key, kept);
        return kept;
      },
      list(name: ListName) {
        const kept = lists.get(name) ?? listAgain(name);
        lists.set(name, kept);
        return kept;
      },
      listAgain,
      isAlive: async () => (await ask(isStateless ? "server/discover" : "ping")).kind !== "none",
      close: () => client.close(),
    },
    // What is seen goes on changing.
    Object.getOwnPropertyDescriptors(record),
  ) as Visit;
}

/** The answer to one request on a channel of its own, without a client that has spoken before. */
export async function askAlone(
  target: Target,
  message: JsonObject & { readonly id: string },
  timeoutMs: number,
): Promise<Answer> {
  const channel = await target.open();
  try {
    return await new Promise<Answer>((resolve) => {
      const give = (answer: Answer): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      const timer = setTimeout(() => give({ kind: "none", why: `no answer in ${timeoutMs / 1000} s` }), timeoutMs);
      channel.open({
        receive(incoming) {
          const all = incoming.kind === "batch" ? incoming.members : [incoming];
          for (const one of all) if (idOf(one) === message.id) give(toAnswer(one));
        },
        failed: (_, cause) => give({ kind: "none", why: reasonOf(cause) }),
        closed: (cause) =>
          give({ kind: "none", why: cause === undefined ? "the connection was closed" : reasonOf(cause) }),
      });
      channel.send(message as unknown as Message);
    });
  } finally {
    channel.close();
  }
}

/** What every request of the stateless era says of its client. */
export function statelessMeta(revision: string): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "plenum-doctor", version: "0" },
  };
}

async function listAll(ask: Visit["ask"], name: ListName): Promise<Listing> {
  const method = listMethods[name];
  const items: JsonObject[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let first: Answer | undefined;
  for (let pages = 1; ; pages++) {
    const answer = await ask(method, cursor === undefined ? undefined : { cursor });
    first ??= answer;
    const give = (problem?: string): Listing => ({ items, pages, answer: first as Answer, problem });
    if (answer.kind !== "result") return give(`page ${pages} did not come: ${describeAnswer(answer)}`);
    const page = answer.result[name];
    if (!Array.isArray(page)) return give(`its result has no list "${name}"`);
    items.push(...page.filter(isObject));
    const next = answer.result.nextCursor;
    if (typeof next !== "string") return give();
    if (cursors.has(next)) return give(`the cursor of page ${pages} was given before: the list never ends`);
    if (pages >= maxPages) return give(`it has more than ${maxPages} pages`);
    cursors.add(next);
    cursor = next;
  }
}

function isDeclared(capabilities: object, path: string): boolean {
  let at: unknown = capabilities;
  for (const step of path.split(".")) at = isObject(at) ? at[step] : undefined;
  return at !== undefined && at !== false;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The messages of one event; those of a batch one by one. */
export function singlesOf(event: TapEvent): readonly Single[] {
  if (event.kind !== "received") return [];
  return event.incoming.kind === "batch" ? event.incoming.members : [event.incoming];
}

function idOf(one: Single): unknown {
  return one.kind === "response" ? one.message.id : one.kind === "invalid" ? one.id : undefined;
}

function toAnswer(one: Single): Answer {
  if (one.kind !== "response") return { kind: "none", why: "the answer was no valid response of JSON-RPC" };
  const { message } = one;
  if ("error" in message) return { kind: "error", code: message.error.code, message: message.error.message };
  return { kind: "result", result: message.result as JsonObject };
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For people, in a few words. */
export function describeAnswer(answer: Answer): string {
  if (answer.kind === "none") return answer.why;
  return answer.kind === "error" ? `error ${answer.code} (${answer.message})` : "a result";
}
