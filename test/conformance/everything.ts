// The everything server as a child process, started from its bundle.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundleProgram } from "../../scripts/program.mjs";

export type Answers = "auto" | "stream";

export interface Everything {
  /** With the name `localhost`, which the suite's checks of names need. */
  readonly url: string;
  /** Ends it, and says what was wrong with how it ended. */
  end(): Promise<string[]>;
}

const startMs = 20_000;
const endMs = 10_000;

/** Started children: ended with this process, however that ends. */
const children = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of children) child.kill();
});

export async function startEverything(answers: Answers): Promise<Everything> {
  const bundle = await bundleProgram("test/conformance/server.ts");
  const child = spawn(process.execPath, [bundle, "--port", "0", "--answers", answers], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const ended = once(child, "exit").then(([code, signal]) => `${code ?? signal}`);
  const lines = createInterface({ input: child.stdout });
  const timer = setTimeout(() => child.kill("SIGKILL"), startMs);
  const first = await Promise.race([once(lines, "line").then(([line]) => String(line)), ended.then(() => undefined)]);
  clearTimeout(timer);
  const port = first?.match(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/)?.[1];
  if (!port) throw new Error(`the everything server did not start: ${first ?? complaints}`);
  return {
    url: `http://localhost:${port}/mcp`,
    async end() {
      const problems: string[] = [];
      if (child.exitCode !== null || child.signalCode !== null) problems.push("it had ended before it was told to");
      child.kill("SIGTERM");
      const last = setTimeout(() => child.kill("SIGKILL"), endMs);
      const how = await ended;
      clearTimeout(last);
      children.delete(child);
      if (how !== "0") problems.push(`it ended with ${how}, not with 0`);
      if (complaints) problems.push(`it complained: ${complaints.slice(0, 2000)}`);
      return problems;
    },
  };
}
