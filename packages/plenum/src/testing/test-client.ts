// A client for tests: on a server in this process, in the revision that is wanted, as whoever is wanted. It keeps what passed,
// what was logged and reported, and answers what the server asks as the test says.
import type { Client } from "../client/client.ts";
import type { CallOptions, ClientOptions } from "../client/options.ts";
import type { Target } from "../jsonrpc/channel.ts";
import type { Message } from "../jsonrpc/message.ts";
import type { AuthInfo, Endpoint, Sender } from "../protocol/endpoint.ts";
import type { LogLevel } from "../protocol/model.ts";
import type { ProgressUpdate } from "../protocol/remote.ts";
import { type Revision, revisions } from "../protocol/revisions.ts";
import { memoryTarget } from "../transport/memory/target.ts";
import { type TapEvent, tapTarget } from "../transport/tap.ts";
import { type AnswerScript, type AskedQuestion, createScriptedAnswers } from "./scripted-answers.ts";

export interface TestClientOptions
  extends Omit<ClientOptions, "onElicit" | "onElicitUrl" | "onSample" | "sampleTools">,
    AnswerScript {
  /** Who calls, for tests of scopes. Default: nobody says, as over stdio. */
  readonly auth?: Partial<AuthInfo>;
  /** Headers of the request, for handlers that look at them. */
  readonly headers?: { readonly [name: string]: string };
}

export interface PassedMessage {
  readonly from: "client" | "server";
  readonly message: Message;
}

export interface LogRecord {
  readonly level: LogLevel;
  readonly logger?: string;
  readonly data: unknown;
}

export interface TestClient extends Client {
  /** Every message that passed, in order, the handshake too. */
  readonly messages: readonly PassedMessage[];
  /** What the server asked, and what it was told. */
  readonly questions: readonly AskedQuestion[];
  /** What the server logged, from "debug" up unless `logLevel` says otherwise. */
  readonly logs: readonly LogRecord[];
  /** What calls reported of their progress. */
  readonly progress: readonly ProgressUpdate[];
  /** What the server did wrong where the client copes. */
  readonly warnings: readonly string[];
}

/**
 * Connects to a server in this process, or to any target. A call during which the server asked something that the test has no
 * answer for rejects with an error that shows the question, whatever the server made of it. Throws McpError where connecting fails.
 */
export async function createTestClient(
  server: Endpoint | Target,
  options: TestClientOptions = {},
): Promise<TestClient> {
  const { elicit, visit, sample, auth, headers, ...rest } = options;
  const answers = createScriptedAnswers({
    ...(elicit !== undefined && { elicit }),
    ...(visit !== undefined && { visit }),
    ...(sample !== undefined && { sample }),
  });
  const messages: PassedMessage[] = [];
  const logs: LogRecord[] = [];
  const progress: ProgressUpdate[] = [];
  const warnings: string[] = [];
  const target = "open" in server ? server : memoryTarget(server, toServing(auth, headers));
  // As `connect` does: with it comes what a client needs at once, and nothing twice.
  const { createClient } = await import("../client/client.ts");
  const client = await createClient(
    tapTarget(target, (event) => keep(event, messages)),
    {
      logLevel: "debug",
      ...rest,
      ...answers.options,
      onLog(entry) {
        logs.push(entry);
        rest.onLog?.(entry);
      },
      onWarning(problem) {
        warnings.push(problem);
        rest.onWarning?.(problem);
      },
    },
  );

  const listening = (given: CallOptions = {}): CallOptions => ({
    ...given,
    onProgress(update) {
      progress.push(update);
      given.onProgress?.(update);
    },
  });
  /** A server may take a question that came to nothing for a refusal: the test must not. */
  const asking = async <T>(run: () => Promise<T>): Promise<T> => {
    const before = answers.unanswered.length;
    const outcome = await run().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const missing = answers.unanswered[before];
    if (missing) throw missing;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  };

  // What it says of its state is asked for each time.
  return Object.defineProperties({} as TestClient, {
    ...Object.getOwnPropertyDescriptors(client),
    ...Object.getOwnPropertyDescriptors({
      messages,
      questions: answers.questions,
      logs,
      progress,
      warnings,
      callTool: (name, args, given) => asking(() => client.callTool(name, args, listening(given))),
      readResource: (uri, given) => asking(() => client.readResource(uri, listening(given))),
      getPrompt: (name, args, given) => asking(() => client.getPrompt(name, args, listening(given))),
      request: (method, params, given) => asking(() => client.request(method, params, listening(given))),
    } satisfies Partial<TestClient>),
  });
}

function toServing(auth: Partial<AuthInfo> | undefined, headers: TestClientOptions["headers"]): { sender?: Sender } {
  if (!auth && !headers) return {};
  const byName = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    sender: {
      ...(auth && { auth: { scopes: [], ...auth } }),
      ...(headers && { header: (name: string) => byName.get(name.toLowerCase()) }),
    },
  };
}

function keep(event: TapEvent, messages: PassedMessage[]): void {
  if (event.kind === "sent") {
    for (const message of [event.message].flat() as Message[])
      messages.push({ from: "client", message: structuredClone(message) });
  } else if (event.kind === "received") {
    const { incoming } = event;
    for (const one of incoming.kind === "batch" ? incoming.members : [incoming])
      if (one.kind !== "invalid") messages.push({ from: "server", message: structuredClone(one.message) });
  }
}

export interface EveryRevisionOptions extends Omit<TestClientOptions, "revision"> {
  /** Default: all. */
  readonly revisions?: readonly Revision[];
}

/**
 * Runs the same test in every revision, one after the other, each with a client of its own, which is closed after it. Where it fails
 * in some, the first error is thrown, and its message begins with the revisions.
 */
export async function inEveryRevision(
  server: Endpoint | Target,
  run: (client: TestClient) => unknown,
  { revisions: chosen = revisions, ...options }: EveryRevisionOptions = {},
): Promise<void> {
  const failures: { readonly revision: Revision; readonly error: unknown }[] = [];
  for (const revision of chosen) {
    try {
      const client = await createTestClient(server, { ...options, revision });
      try {
        await run(client);
      } finally {
        await client.close();
      }
    } catch (error) {
      failures.push({ revision, error });
    }
  }
  const [first] = failures;
  if (!first) return;
  const where = `in ${failures.map(({ revision }) => revision).join(", ")}`;
  if (!(first.error instanceof Error)) throw new Error(`${where}: ${String(first.error)}`, { cause: first.error });
  // The same error: a test runner shows what it has besides a message.
  first.error.message = `${where}: ${first.error.message}`;
  throw first.error;
}
