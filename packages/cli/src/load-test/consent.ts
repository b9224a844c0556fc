// Asks before a load is put on a server that is not on this machine: it may be somebody else's.
import { createInterface } from "node:readline/promises";
import { Failure } from "../failure.ts";
import type { Output } from "../output.ts";
import type { TargetSpec } from "../target/spec.ts";

/** Whether the name of a host can only mean this machine. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Throws a Failure where nobody agrees. */
export async function assertConsent(
  spec: TargetSpec,
  { isYes, output, signal }: { readonly isYes: boolean; readonly output: Output; readonly signal: AbortSignal },
): Promise<void> {
  if (spec.kind !== "url" || isYes) return;
  const { hostname } = new URL(spec.url);
  if (isLoopback(hostname)) return;
  if (output.canAsk) {
    const asking = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const question = `Put a load on ${hostname}? It is not this machine: do so only where you may. [y/N] `;
      if (/^y(es)?$/i.test((await asking.question(question, { signal })).trim())) return;
    } finally {
      asking.close();
    }
  }
  throw new Failure("usage", `${hostname} is not this machine, and a load may harm who runs it`, {
    code: "no_consent",
    hint: "If it is yours, or its owner agrees, say so with --yes.",
  });
}
