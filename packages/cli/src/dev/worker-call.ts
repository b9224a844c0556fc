// A call in the worker: what the server is given is a Call like any other, whose ways back lead to the supervisor.
import type { Call, Endpoint, Link, Sender } from "plenum";
import { type ErrorClasses, type Fault, fromFault, isJson, isTellable, toFault } from "./fault.ts";
import type { CallData, Order, Report, SenderData } from "./messages.ts";

export interface WorkerCall {
  readonly call: Call;
  /** What the supervisor says about this call. */
  take(order: Order): void;
  /** There is an answer: what was held back goes out before it. */
  finish(): void;
}

type Send = (report: Report) => void;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** The function of a step. */
  readonly run?: () => unknown;
  /** What that threw, in this process. */
  cause?: unknown;
}

export function openCall(id: number, data: CallData, classes: ErrorClasses, send: Send): WorkerCall {
  const { levels: _, sender, ...rest } = data;
  const stop = new AbortController();
  const waiting = new Map<number, Waiting>();
  const held: (() => void)[] = [];
  let { levels } = data;
  let lastKey = 0;
  let ended = false;
  /** The function of a step is running, up to its first `await`. */
  let isStepping = false;

  function assertOutsideStep(): void {
    if (isStepping) throw new TypeError("Ask, and take steps, before a step or after it, not inside");
  }

  /** Says something that is answered under its key. */
  function request(toReport: (key: number) => Report, run?: () => unknown): Promise<unknown> {
    const key = ++lastKey;
    return new Promise((resolve, reject) => {
      waiting.set(key, { resolve, reject, ...(run && { run }) });
      send(toReport(key));
    });
  }

  async function runStep(key: number): Promise<void> {
    const step = waiting.get(key);
    if (!step?.run) return;
    const ran = (outcome: Extract<Report, { type: "ran" }>["outcome"]): void =>
      send({ type: "ran", call: id, key, outcome });
    try {
      isStepping = true;
      let returned: unknown;
      try {
        returned = step.run();
      } finally {
        isStepping = false;
      }
      const value = await returned;
      ran(value === undefined || isJson(value) ? { value } : { isNoJson: true });
    } catch (error) {
      step.cause = error;
      ran({ fault: toFault(error) });
    }
  }

  const link: Link = {
    signal: stop.signal,
    get ended() {
      return ended;
    },
    notify(method, params) {
      if (!ended) send({ type: "notify", call: id, method, params });
    },
    beforeEnd: (run) => void held.push(run),
    wantsLog: (level) => levels.includes(level),
    async ask(ask) {
      assertOutsideStep();
      return (await request((key) => ({ type: "ask", call: id, key, ask }))) as never;
    },
    async step(name, run) {
      assertOutsideStep();
      return request((key) => ({ type: "step", call: id, key, name }), run);
    },
    assertOutsideStep,
  };

  return {
    call: {
      ...rest,
      auth: data.auth,
      sender: sender && toSender(sender, (retryMs) => send({ type: "disconnect", call: id, retryMs })),
      link,
    },
    take(order) {
      if (order.type === "levels") levels = order.levels;
      if (order.type === "run") void runStep(order.key);
      if (order.type === "answer") {
        const one = waiting.get(order.key);
        waiting.delete(order.key);
        const { value, fault } = order.outcome;
        if (fault) one?.reject(fromFault(fault, classes, one.cause));
        else one?.resolve(value);
      }
      if (order.type !== "end" || ended) return;
      ended = true;
      if (order.reason !== undefined) stop.abort(new DOMException(order.reason, "AbortError"));
    },
    finish() {
      if (ended) return;
      for (const run of held) {
        try {
          run();
        } catch {
          // The answer goes out all the same.
        }
      }
      ended = true;
    },
  };
}

/** What went wrong in a call: as it is, where the client may be told; else reported here, in the server's own way. */
export function toCallFault(error: unknown, server: Endpoint, { method, link }: Call): Fault {
  const fault = toFault(error);
  if (isTellable(fault)) return fault;
  return { name: fault.name, message: "", errorId: server.report(error, { method, ended: link.ended }) };
}

function toSender(
  { auth, headers, mirrorsParams, canDisconnect }: SenderData,
  disconnect: (retryMs?: number) => void,
): Sender {
  return {
    ...(auth && { auth }),
    ...(mirrorsParams !== undefined && { mirrorsParams }),
    ...(headers && { header: (name: string) => (Object.hasOwn(headers, name) ? headers[name] : undefined) }),
    ...(canDisconnect && { disconnect }),
  };
}
