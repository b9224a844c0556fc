// Asks the server that a line names for what it has, in a process of its own: the file of a server may print, never end, or end
// the process, and a person who pressed a key waits.
import { spawn } from "node:child_process";
import type { NameKind, ServerNames } from "./server-names.ts";

export interface Question {
  readonly kind: NameKind;
  readonly target: string;
  readonly headers: readonly string[];
}

/** The descriptor that the answer comes by: stdout is the server's own to print on. */
export const answerDescriptor = 3;

const maxBytes = 8_000_000;

/** @param timeoutMs 0 asks nobody. Never rejects: no answer is an empty one */
export function askServer(question: Question, timeoutMs: number): Promise<ServerNames> {
  // Only what is asked without starting a program, or running what another program's settings say.
  const isAskable = /^https?:\/\//i.test(question.target) || /\.([mc]?[jt]s|[jt]sx)(:[\w$]+)?$/i.test(question.target);
  if (!isAskable || timeoutMs <= 0) return Promise.resolve([]);
  return new Promise((resolve) => {
    const program = process.argv[1] as string;
    const child = spawn(process.execPath, [program, "__names"], {
      stdio: ["pipe", "ignore", "ignore", "pipe"],
    });
    let text = "";
    const finish = (): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      resolve(parse(text));
    };
    const timer = setTimeout(finish, timeoutMs);
    const answers = child.stdio[answerDescriptor] as NodeJS.ReadableStream;
    answers.setEncoding("utf8");
    answers.on("data", (chunk: string) => {
      text += chunk;
      if (text.endsWith("\n") || text.length > maxBytes) finish();
    });
    answers.on("error", finish);
    child.on("error", finish).on("exit", finish);
    child.stdin?.on("error", () => {});
    // Headers may be secret: other users of the machine see the words of a command.
    child.stdin?.end(JSON.stringify(question));
  });
}

function parse(text: string): ServerNames {
  try {
    return JSON.parse(text) as ServerNames;
  } catch {
    return [];
  }
}
