// A worker process as the supervisor sees it: started ahead, told a file to load, called, and ended when another takes its place.
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Call, type Change, type LogLevel, McpError, type Result, ToolError } from "plenum";
import { anyRoot, logLevels } from "plenum/protocol";
import { Failure } from "../failure.ts";
import type { FileSpec } from "../target/spec.ts";
import { fromFault, toFault } from "./fault.ts";
import { toSenderData } from "./header-names.ts";
import type { CallData, Digests, Facts, Order, Outcome, Report } from "./messages.ts";

export interface ChildListener {
  /** A file that the server is made of. */
  file(path: string): void;
  changed(change: Change): void;
  /** It has ended without having been told to. Its calls have failed by then. */
  gone(how: string): void;
}

export interface LoadOrder {
  readonly spec: FileSpec;
  readonly methods: readonly string[];
  readonly extras: string | undefined;
}

export interface Child {
  /** Once. Rejects with a Failure where there is no server to be had. */
  load(order: LoadOrder, listener: ChildListener): Promise<void>;
  /** As of the last change. Only after it was loaded. */
  readonly facts: Facts;
  /** Undefined where the call never reached it. */
  call(call: Call): Promise<Result> | undefined;
  digests(): Promise<Digests>;
  /** Callers may want other log messages now. */
  relevel(): void;
  /**
   * Finishes the calls that run, within `graceMs`, and ends. Who waits for an answer of a user's has the time. May be called again,
   * with less patience.
   */
  retire(graceMs: number): Promise<void>;
  /** Ends at once. */
  kill(): void;
}

/** How long it may take to end when it is told to; then it is killed. */
const endingMs = 5000;
/** How often is looked whose time is over. */
const lookMs = 100;

const classes = { McpError, ToolError };

/** Something that is asked of the worker and not answered yet. */
interface Open {
  readonly call: Call | undefined;
  /** Questions to the client that are not answered. */
  asking: number;
  /** When the last of them was. */
  answeredAt: number;
  finish(outcome: Outcome, isAnyRoot?: boolean): void;
  /** By the key of the step. */
  readonly steps: Map<number, (outcome: Extract<Report, { type: "ran" }>["outcome"]) => void>;
}

/** Seen from the folder of the chunks. */
const program = new URL("../worker.cjs", import.meta.url);

/** Those that run. One whose event loop is blocked does not notice that we are gone. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export function startChild(env: NodeJS.ProcessEnv = process.env, onEnd: () => void = () => {}): Child {
  // Its stdin stays open as long as we are there. What it writes to stdout must not get into the protocol.
  const child = fork(fileURLToPath(program), [], { stdio: ["pipe", 2, 2, "ipc"], env });
  running.add(child);
  const open = new Map<number, Open>();
  let facts: Facts | undefined;
  let listener: ChildListener | undefined;
  let loading: PromiseWithResolvers | undefined;
  let lastId = 0;
  let isEnding = false;
  let isGone = false;
  let onIdle: (() => void) | undefined;

  const ended = new Promise<void>((resolve) => {
    const end = (how: string): void => {
      if (isGone) return;
      isGone = true;
      running.delete(child);
      onEnd();
      loading?.reject(new Failure("usage", `The server ended while it was loaded: ${how}`));
      for (const one of [...open.values()])
        one.finish({ fault: toFault(new McpError("internal_error", `The server ended while this call ran: ${how}`)) });
      if (!isEnding && facts) listener?.gone(how);
      resolve();
    };
    // Comes when all that it said has been read.
    child.once("close", (code, signal) => end(signal ? `it was ended by ${signal}` : `it exited with code ${code}`));
    child.once("error", (error) => {
      if (child.pid === undefined) end(error.message);
    });
  });
  child.stdin?.on("error", () => {});

  /** What does not get there is of no interest: its end is near, and is told by itself. */
  function tell(order: Order): void {
    if (child.connected) child.send(order, () => {});
  }

  function begin<T>(call: Call | undefined, toOrder: (id: number) => Order): Promise<T> {
    const id = ++lastId;
    return new Promise<T>((resolve, reject) => {
      const { signal } = call?.link ?? {};
      const abort = (): void => tell({ type: "end", call: id, reason: toReason(signal?.reason) });
      open.set(id, {
        call,
        asking: 0,
        answeredAt: 0,
        steps: new Map(),
        finish(outcome, isAnyRoot) {
          if (!open.delete(id)) return;
          signal?.removeEventListener("abort", abort);
          if (outcome.fault) reject(fromFault(outcome.fault, classes));
          else resolve((isAnyRoot ? { ...(outcome.value as object), [anyRoot]: true } : outcome.value) as T);
          if (open.size === 0) onIdle?.();
        },
      });
      signal?.addEventListener("abort", abort, { once: true });
      // Answered before the handler is done, as a call is that does not end when it is suspended.
      call?.link.beforeEnd(() => {
        if (open.has(id)) tell({ type: "end", call: id });
      });
      tell(toOrder(id));
    });
  }

  function take(report: Report): void {
    if (report.type === "file") listener?.file(report.path);
    else if (report.type === "ready") {
      facts = report.facts;
      loading?.resolve();
    } else if (report.type === "failed") {
      loading?.reject(new Failure("usage", report.message, { hint: report.hint, code: report.code }));
    } else if (report.type === "changed") {
      facts = report.facts;
      // That it closes is no news where it was told to.
      if (!isEnding || report.change.kind !== "closing") listener?.changed(report.change);
    } else {
      const one = open.get(report.call);
      if (one) follow(report, one);
    }
  }

  function follow(report: Extract<Report, { call: number }>, one: Open): void {
    const { call: id } = report;
    const { link, sender } = one.call ?? {};
    if (report.type === "done") one.finish(report.outcome, report.isAnyRoot);
    else if (report.type === "notify") notify(one.call as Call, report);
    else if (report.type === "disconnect") sender?.disconnect?.(report.retryMs);
    else if (report.type === "ran") one.steps.get(report.key)?.(report.outcome);
    else {
      const { key } = report;
      const given =
        report.type === "ask" ? link?.ask(report.ask) : link?.step(report.name, () => runStep(id, key, one));
      if (report.type === "ask") one.asking++;
      Promise.resolve(given)
        .then(
          (value): Outcome => ({ value }),
          (error): Outcome => ({ fault: toFault(error) }),
        )
        .then((outcome) => {
          if (report.type === "ask") {
            one.asking--;
            one.answeredAt = Date.now();
          }
          tell({ type: "answer", call: id, key, outcome });
        });
    }
  }

  function runStep(id: number, key: number, one: Open): Promise<unknown> {
    return new Promise((resolve, reject) => {
      one.steps.set(key, ({ value, fault, isNoJson }) => {
        if (fault) reject(fromFault(fault, classes));
        // The library has words for what JSON lacks: it is given something of the kind.
        else if (isNoJson) resolve(0n);
        else resolve(value);
      });
      tell({ type: "run", call: id, key });
    });
  }

  child.on("message", (texts: unknown) => {
    // The file has the channel, too, if it wants it: what is not ours is no reason to end.
    if (!Array.isArray(texts)) return;
    for (const text of texts) take(JSON.parse(text) as Report);
  });

  /** Ends the calls that have had their time, which begins anew for one that was waiting for somebody. */
  function cutOff(since: number, graceMs: number): void {
    const reason = "The server was reloaded while this call ran";
    for (const [id, one] of [...open]) {
      if (one.asking > 0 || Date.now() - Math.max(since, one.answeredAt) < graceMs) continue;
      tell({ type: "end", call: id, reason });
      one.finish({ fault: toFault(new McpError("internal_error", reason)) });
    }
  }

  return {
    async load(order, told) {
      listener = told;
      loading = withResolvers();
      if (isGone) throw new Failure("usage", "The server's process could not be started");
      tell({ type: "load", ...order });
      await loading.promise;
    },
    get facts() {
      return facts as Facts;
    },
    call(call) {
      if (isGone || !child.connected) return undefined;
      return begin<Result>(call, (id) => ({ type: "call", call: id, data: toData(call) }));
    },
    digests: () => begin<Digests>(undefined, (id) => ({ type: "lists", call: id })).catch(() => ({})),
    relevel() {
      for (const [id, { call }] of open) if (call) tell({ type: "levels", call: id, levels: levelsOf(call.link) });
    },
    async retire(graceMs) {
      isEnding = true;
      if (open.size > 0) {
        const timer = setInterval(cutOff, Math.min(graceMs, lookMs), Date.now(), graceMs);
        await Promise.race([ended, new Promise<void>((resolve) => (onIdle = resolve))]);
        clearInterval(timer);
      }
      tell({ type: "close" });
      const timer = setTimeout(() => child.kill("SIGKILL"), endingMs);
      await ended;
      clearTimeout(timer);
    },
    kill() {
      isEnding = true;
      child.kill("SIGKILL");
    },
  };
}

function notify({ link, method: about }: Call, { method, params }: Extract<Report, { type: "notify" }>): void {
  // The caller may have changed its mind since the worker was told what it wants.
  if (method === "notifications/message" && !link.wantsLog(params.level as LogLevel)) return;
  try {
    link.notify(method, params);
  } catch (error) {
    process.stderr.write(`plenum: ${method} of ${about} was not sent: ${String(error)}\n`);
  }
}

function toData({ link, sender, method, params, sent, meta, id, client, auth, input }: Call): CallData {
  const levels = levelsOf(link);
  return {
    method,
    params,
    sent,
    meta,
    id,
    client,
    auth,
    input,
    sender: sender && toSenderData(sender),
    levels,
  };
}

function levelsOf(link: Call["link"]): LogLevel[] {
  return logLevels.filter((level) => link.wantsLog(level));
}

function toReason(reason: unknown): string {
  return reason instanceof Error ? reason.message : "The call was cancelled";
}

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => {};
  let reject = (_: unknown): void => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
