// The program that `plenum dev` runs the server of a file in: one process for each version of it. It waits to be told the file,
// so that one can stand ready, loads it once, and answers the calls that the supervisor passes on. Its stdout is the
// supervisor's stderr.
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Failure } from "../failure.ts";
import { importInstalled } from "../load/library.ts";
import { watchMishaps } from "../load/mishaps.ts";
import { serveOrFail } from "../load/served-already.ts";
import { ensureHooks, type LoadedServer, loadServer } from "../load/server.ts";
import type { FileSpec } from "../target/spec.ts";
import type { ErrorClasses } from "./fault.ts";
import type { Facts, Order, Report } from "./messages.ts";
import { isPortTaken, portTaken } from "./port-taken.ts";
import { startWatchdog } from "./watchdog.ts";
import { openCall, toCallFault, type WorkerCall } from "./worker-call.ts";
import { digestLists } from "./worker-lists.ts";

interface Served {
  readonly server: LoadedServer["server"];
  readonly classes: ErrorClasses;
  facts(): Facts;
  /** Whether the supervisor knows that it is ready. */
  isTold: boolean;
  /** Whether a result has the mark that its own library knows. */
  isAnyRoot(result: object): boolean;
}

const hooks = new URL("../dev/extras-hooks.js", import.meta.url);

/** What loading takes whatever the file is, done ahead: most files use the library that we use. */
const warm = importInstalled("plenum").then(ensureHooks);

/** How long closing may take, with what the server disposes of. */
const closingMs = 3000;

/** Ours alone: to a file that asks whether it has a parent to talk to, as it may, the answer is no, as it is under `plenum run`. */
const sendToParent = process.send?.bind(process);
delete process.send;

let served: Served | undefined;
const calls = new Map<number, WorkerCall>();
let outbox: string[] = [];

/** Throws a TypeError for what JSON lacks. */
function send(report: Report): void {
  if (outbox.push(JSON.stringify(report)) === 1) setImmediate(flush);
}

function flush(): void {
  const texts = outbox;
  outbox = [];
  if (served && texts.length > 0) served.isTold = true;
  // The supervisor may be gone: then so are we, soon.
  if (process.connected) sendToParent?.(texts, undefined, undefined, () => {});
}

async function load({ spec, methods, extras }: Extract<Order, { type: "load" }>): Promise<void> {
  try {
    await warm;
    watchMishaps(spec, endLoading);
    if (extras !== undefined) register(hooks, { data: { parentURL: pathToFileURL(join(extras, "none.js")).href } });
    const onFile = (path: string): void => send({ type: "file", path });
    onFile(spec.path);
    const { server, library } = await loadServer(spec, { onFile });
    await assertUnserved(spec, { server, library });
    const [classes, { anyRoot }] = await Promise.all([
      library.import<typeof import("plenum")>("plenum"),
      library.import<typeof import("plenum/protocol")>("plenum/protocol"),
    ]);
    const facts = (): Facts => ({
      description: server.describe(),
      hints: server.cacheHints(),
      byHand: methods.filter((method) => server.handles(method)),
      maxStateBytes: server.rounds?.maxStateBytes,
    });
    served = { server, classes, facts, isTold: false, isAnyRoot: (result) => anyRoot in result };
    server.watch((change) => send({ type: "changed", change, facts: facts() }));
    send({ type: "ready", facts: facts() });
  } catch (error) {
    send({ type: "failed", ...toWords(error) });
  }
  startWatchdog();
}

/** A server that listens tells of a port that is taken by an exception: to the supervisor that is a version that does not load. */
function endLoading(error: unknown): void {
  if (served?.isTold || !isPortTaken(error)) process.exit(1);
  // Before all that was not sent yet: it may be that it is ready.
  outbox.unshift(JSON.stringify({ type: "failed", ...toWords(error) } satisfies Report));
  setImmediate(flush);
  setTimeout(() => process.exit(1), 100);
}

/** Stdin is not what hosts write to here: a server that the file serves there would wait for ever. */
async function assertUnserved(spec: FileSpec, { server, library }: LoadedServer): Promise<void> {
  // Whoever serves listens. That alone takes no library.
  if (process.stdin.listenerCount("data") === 0) return;
  const [{ serveStdio }, { PassThrough }] = await Promise.all([
    library.import<typeof import("plenum/stdio")>("plenum/stdio"),
    import("node:stream"),
  ]);
  const output = new PassThrough();
  void serveOrFail(spec, () => serveStdio(server, { input: process.stdin, output, exit: false })).close();
}

/** What is wrong with a file, for who wrote it: of what its own code threw, where. */
function toWords(error: unknown): { message: string; hint: string | undefined; code: string } {
  const code = isPortTaken(error) ? portTaken : "load_failed";
  if (error instanceof Failure) return { message: error.message, hint: error.hint, code };
  return { message: (error instanceof Error && error.stack) || String(error), hint: undefined, code };
}

async function answer({ call: id, data }: Extract<Order, { type: "call" }>): Promise<void> {
  const { server, classes, isAnyRoot } = served as Served;
  const opened = openCall(id, data, classes, send);
  calls.set(id, opened);
  try {
    const value = await server.call(opened.call);
    opened.finish();
    send({ type: "done", call: id, outcome: { value }, isAnyRoot: isAnyRoot(value) });
  } catch (error) {
    const fault = toCallFault(error, server, opened.call);
    opened.finish();
    send({ type: "done", call: id, outcome: { fault } });
  } finally {
    calls.delete(id);
  }
}

async function list(id: number): Promise<void> {
  const { server } = served as Served;
  send({ type: "done", call: id, outcome: { value: await digestLists(server) } });
}

let isClosing = false;

async function close(): Promise<void> {
  if (isClosing) return;
  isClosing = true;
  setTimeout(() => process.exit(), closingMs).unref();
  try {
    await served?.server.close?.();
  } catch (error) {
    served?.server.report(error, { method: "close" });
  }
  process.exit();
}

process.on("message", (order: Order) => {
  if (order.type === "load") void load(order);
  else if (order.type === "close") void close();
  else if (order.type === "call") void answer(order);
  else if (order.type === "lists") void list(order.call);
  else calls.get(order.call)?.take(order);
});
// Without a supervisor there is nobody to serve.
process.on("disconnect", () => void close());
// Ctrl-C at a terminal reaches all of its processes, and so does SIGTERM where a service manager or a host ends the whole group:
// the supervisor decides what becomes of it.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("SIGHUP", () => {});
// One that stands ready has the time; else the thread begins when the file is loaded.
setTimeout(startWatchdog, 1000).unref();
