// Messages without secrets, for whoever keeps or shows them: logs, traces, recordings. A stand-in with the names and the types of
// the whole one, which goes by far more.
import { isObject, type Message, PreparedJson } from "../jsonrpc/message.ts";

export const redacted = "[redacted]";

export interface RedactOptions {
  /** Values that are taken out wherever they stand, also inside texts. */
  readonly secrets?: readonly string[];
}

/** The same message, or the same batch, with `[redacted]` where a secret was. */
export function redact<M extends Message | readonly Message[]>(message: M, { secrets = [] }: RedactOptions = {}): M {
  const walk = (value: unknown): unknown => {
    if (value instanceof PreparedJson) return walk(JSON.parse(value.text));
    if (typeof value === "string") return redactText(value, secrets);
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        isSecretName(key) && typeof one === "string" ? redacted : walk(one),
      ]),
    );
  };
  return walk(message) as M;
}

export function isSecretName(name: string): boolean {
  return /token|secret|password|authorization|api[-_]?key|requestState/i.test(name);
}

export function redactText(text: string, secrets: readonly string[] = []): string {
  const known = secrets.reduce((left, secret) => left.replaceAll(secret, redacted), text);
  return known.replace(/\b(Bearer|Basic) [\w.~+/=-]{8,}/g, `$1 ${redacted}`).replace(/\bsk-[\w-]{16,}/g, redacted);
}
