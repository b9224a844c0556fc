// A server that wants the answer of a model: the person at the terminal is the model, or --answer sample=TEXT is what it says,
// or a program is asked.
import { createInterface } from "node:readline";
import { type AnswerContext, type SampleRequest, type SampleResult, userRejected } from "plenum";
import { type Output, toHarmless } from "../output.ts";
import type { Asked } from "./given.ts";
import { cancelled, promptChoice } from "./prompts.ts";
import { showAsker, showLine } from "./show.ts";

/** How many requests --answer has answered: several are used one after another, and the last again and again. */
const uses = new WeakMap<readonly string[], number>();

/** Throws the error that tells the server of a refusal. */
export async function answerSample(ask: SampleRequest, ctx: AnswerContext, asked: Asked): Promise<SampleResult> {
  const { given, output, sampleCommand } = asked;
  const texts = given.get("sample");
  if (texts) {
    const used = uses.get(texts) ?? 0;
    uses.set(texts, used + 1);
    return toResult(texts[Math.min(used, texts.length - 1)] as string);
  }
  if (sampleCommand !== undefined) {
    const { runSampleCommand } = await import("./sample-command.ts");
    return toResult(await runSampleCommand(sampleCommand, ask, ctx.signal), "command");
  }
  showRequest(ask, ctx, output);
  const choice = await promptChoice({
    message: "Do you want to answer in the place of a model?",
    options: [
      { value: "type", label: "Type the answer" },
      { value: "refuse", label: "Refuse" },
    ],
    signal: ctx.signal,
  });
  if (choice === cancelled || choice === "refuse") throw userRejected();
  showLine('The answer, in as many lines as it takes. A line with only "." ends it, and so does Ctrl-D.');
  const text = await readLines(ctx.signal);
  if (text === cancelled) throw userRejected();
  return toResult(text);
}

function toResult(text: string, model = "human"): SampleResult {
  return { role: "assistant", content: { type: "text", text }, model, stopReason: "endTurn" };
}

function showRequest(ask: SampleRequest, ctx: AnswerContext, output: Output): void {
  const { paintNote } = output;
  showAsker(output, ctx, "asks for the answer of a model:", "");
  if (ask.systemPrompt !== undefined) showLine(`${paintNote("dim", "system:")} ${toHarmless(ask.systemPrompt)}`);
  for (const { role, content } of ask.messages) {
    showLine(`${paintNote("dim", `${role}:`)} ${toHarmless(formatContent(content))}`);
  }
  const limits = [
    `at most ${ask.maxTokens} tokens`,
    ask.temperature === undefined ? "" : `temperature ${ask.temperature}`,
    ask.stopSequences?.length ? `stops at ${ask.stopSequences.map((one) => JSON.stringify(one)).join(", ")}` : "",
  ];
  showLine(paintNote("dim", toHarmless(limits.filter((one) => one !== "").join("; "))));
}

/** Text as it is; of anything else, what it is. */
function formatContent(content: unknown): string {
  if (Array.isArray(content)) return content.map(formatContent).join("\n");
  const { type, text, mimeType } = (content ?? {}) as { readonly [name: string]: unknown };
  if (type === "text") return String(text);
  return `[${[type, mimeType].filter((one) => typeof one === "string").join(" ")}]`;
}

/** Without a prompt library: what is pasted here may have many lines, and none of them is a key. */
function readLines(signal: AbortSignal): Promise<string | typeof cancelled> {
  return new Promise((resolve) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr, prompt: "> " });
    const lines: string[] = [];
    const end = (given: string | typeof cancelled): void => {
      resolve(given);
      signal.removeEventListener("abort", cancel);
      reader.close();
    };
    const cancel = (): void => end(cancelled);
    signal.addEventListener("abort", cancel);
    reader.on("SIGINT", cancel);
    reader.on("close", () => end(lines.join("\n")));
    reader.on("line", (line) => {
      if (line === ".") return end(lines.join("\n"));
      lines.push(line);
      reader.prompt();
    });
    reader.prompt();
  });
}
