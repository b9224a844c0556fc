// --trace: every message on stderr as it passes, one a line, with what may be secret taken out. With --json each line is JSON.
import { redact, redactText } from "plenum/redact";
import { formatMessage, type Incoming, type Message, type Single, type TapEvent, type TapReport } from "plenum/tap";
import { formatJson, type Output, type Paint, toHarmless, toLine } from "./output.ts";
import { secretsOf } from "./target/secrets.ts";
import type { TargetSpec } from "./target/spec.ts";

/** One message, or something else that happened on the way. */
interface Trace {
  readonly kind: "sent" | "received" | "noise" | "failed" | "closed";
  /** Whose number it is, and what it is about: `tools/call #3`. */
  readonly what: string;
  /** Harmless, and without secrets: JSON of a message, else words. */
  readonly text: string;
  readonly message?: Message;
}

/**
 * The first event is the beginning of time.
 * @param secrets values that must not be shown, wherever they stand
 */
export function createTrace(output: Output, secrets: readonly string[] = []): TapReport {
  const { isJson, paintNote } = output;
  const methods = createMethods();
  let begun: number | undefined;
  return (event) => {
    begun ??= event.at;
    const ms = event.at - begun;
    for (const trace of toTraces(event, methods, secrets)) {
      output.status(undefined);
      // Who asks for it wants it, whatever --quiet says.
      process.stderr.write(`${isJson ? formatEnvelope(trace, ms) : formatLine(trace, ms, paintNote)}\n`);
    }
  };
}

/** What the library says of a server, which may quote it: harmless, and without those secrets. */
export function toShown(problem: string, spec: TargetSpec): string {
  return toHarmless(redactText(problem, secretsOf(spec)));
}

/** A response names no method: what its request was is remembered until then. */
interface Methods {
  note(from: "sent" | "received", message: Message): string;
}

function createMethods(): Methods {
  const asked = new Map<string, string>();
  return {
    note(from, message) {
      const number = "id" in message && message.id !== undefined ? `#${message.id}` : "";
      if ("method" in message) {
        if (number !== "") asked.set(`${from} ${number}`, message.method);
        return [message.method, number].filter((part) => part !== "").join(" ");
      }
      const key = `${from === "sent" ? "received" : "sent"} ${number}`;
      const method = asked.get(key) ?? "";
      asked.delete(key);
      const kind = "error" in message ? "error of" : "result of";
      return [kind, method, number].filter((part) => part !== "").join(" ");
    },
  };
}

function toTraces(event: TapEvent, methods: Methods, secrets: readonly string[]): Trace[] {
  const ofMessage = (kind: "sent" | "received", given: Message): Trace => {
    const what = methods.note(kind, given);
    const message = redact(given, { secrets });
    return { kind, what, message, text: toLine(formatMessage(message)) };
  };
  const words = (text: string): string => toLine(redactText(text, secrets));
  if (event.kind === "sent") {
    const messages = Array.isArray(event.message) ? event.message : [event.message as Message];
    return messages.map((message: Message) => ofMessage("sent", message));
  }
  if (event.kind === "received") {
    return singlesOf(event.incoming).map((single) => {
      if (single.kind !== "invalid") return ofMessage("received", single.message);
      const text = single.text ?? single.why ?? single.answer?.error.message ?? "";
      return { kind: "noise", what: "no message", text: words(text) };
    });
  }
  const cause = event.cause === undefined ? "" : words(reasonOf(event.cause));
  if (event.kind === "failed") return [{ kind: "failed", what: `no answer to #${event.id}`, text: cause }];
  return [{ kind: "closed", what: cause === "" ? "closed" : "lost", text: cause }];
}

function singlesOf(incoming: Incoming): readonly Single[] {
  return incoming.kind === "batch" ? incoming.members : [incoming];
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

const arrows = { sent: "→", received: "←", noise: "?", failed: "×", closed: "■" } as const;
const colors = { sent: "cyan", received: "green", noise: "yellow", failed: "red", closed: "dim" } as const;

function formatLine({ kind, what, text }: Trace, ms: number, paint: Paint): string {
  const time = paint("dim", `${(ms / 1000).toFixed(3).padStart(8)}s`);
  return `${time} ${paint(colors[kind], `${arrows[kind]} ${toLine(what)}`)} ${text}`.trimEnd();
}

function formatEnvelope({ kind, what, text, message }: Trace, ms: number): string {
  return formatJson({ trace: { kind, ms, what, ...(message ? { message } : { text }) } });
}
