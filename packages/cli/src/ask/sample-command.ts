// --sample-command: a program of the user's own that answers for a model. It gets the request as JSON, and prints the answer.
import { spawn } from "node:child_process";
import type { SampleRequest } from "plenum";
import { Failure } from "../failure.ts";

/** Throws a Failure where the program fails. What it writes to stderr is the user's to see. */
export async function runSampleCommand(command: string, ask: SampleRequest, signal: AbortSignal): Promise<string> {
  // A command line of the user's own, as at the prompt of the shell; nothing of the server's is in it.
  const child = spawn(command, { shell: true, stdio: ["pipe", "pipe", "inherit"], signal });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  // It need not read what it is asked.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(ask));
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exit, killed) => resolve(exit ?? killed));
  });
  if (code === 0)
    return Buffer.concat(chunks)
      .toString("utf8")
      .replace(/\r?\n$/, "");
  throw new Failure("usage", `--sample-command ended with ${code}`, {
    code: "sample_failed",
    hint: "It gets the request as JSON on stdin, and prints the answer of the model on stdout.",
  });
}
