// A secret from whoever runs the command: typed without being shown, or piped in. Never a word of the command line, which others can see.
import { Failure } from "../failure.ts";
import type { Output } from "../output.ts";

const maxBytes = 64 * 1024;

/** Without the line break at its end. Throws a Failure for none. */
export async function askSecret(question: string, output: Output, signal: AbortSignal): Promise<string> {
  const value = process.stdin.isTTY ? await readHidden(question, signal) : await readPiped();
  if (value !== "") return value;
  throw new Failure("usage", "There is no secret", {
    code: "no_secret",
    hint: output.canAsk ? "Type it, and Enter." : "Pipe it in: plenum secret set NAME < FILE",
  });
}

async function readPiped(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Failure("usage", `A secret may have ${maxBytes} bytes`, { code: "no_secret" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

function readHidden(question: string, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = process;
  // First, or what is typed at once would be shown.
  stdin.setRawMode(true);
  stderr.write(question);
  stdin.setEncoding("utf8");
  return new Promise<string>((resolve, reject) => {
    let typed = "";
    const finish = (): void => {
      stdin.off("data", onData);
      signal.removeEventListener("abort", onAbort);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
    };
    const stop = (): void => {
      finish();
      reject(new Failure("interrupted", "Interrupted"));
    };
    const onAbort = (): void => stop();
    const onData = (text: string): void => {
      for (const key of text) {
        if (key === "\r" || key === "\n" || key === "\u0004") {
          finish();
          resolve(typed);
          return;
        }
        // In raw mode Ctrl-C is a key like any other.
        if (key === "\u0003") {
          stop();
          return;
        }
        if (key === "\u007f" || key === "\b") typed = [...typed].slice(0, -1).join("");
        else if (key >= " ") typed += key;
      }
    };
    stdin.on("data", onData);
    signal.addEventListener("abort", onAbort);
    stdin.resume();
  });
}
