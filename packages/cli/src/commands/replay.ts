// `plenum replay`: a recorded conversation, as a fake server or as a fake client.
import type { Conversation, ReplayReport } from "plenum/testing";
import { defineCommand, type Invocation } from "../command.ts";
import { exitCodes, Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";
import { openTarget, sessionOptions } from "../session.ts";
import { findTarget } from "../target/find.ts";

const { header, env, cwd, stderr, trace, timeout } = sessionOptions;

const options = {
  against: {
    kind: "text",
    value: "TARGET",
    summary: "Say what the client said to this server, and compare its answers",
  },
  ignore: {
    kind: "list",
    value: "POINTER",
    summary:
      "Do not compare this place, such as /result/structuredContent/time; * is any member, ** any number of them",
  },
  repeat: { kind: "flag", summary: "As a server: answer what was recorded once any number of times" },
  header,
  env,
  cwd,
  timeout: { ...timeout, summary: "With --against: how long to wait for an answer", fallback: "10" },
  stderr,
  trace,
} as const;

type ReplayInvocation = Invocation<typeof options>;

export const command = defineCommand({
  name: "replay",
  summary: "Play a recorded conversation as a server or a client",
  description: [
    "Plays a file of plenum record. Without more it is a server on stdio that answers as the recorded one did: requests are told by their method and params, whatever their ids; where the same was asked several times, the answers come in their order; progress, log messages and questions come where they came. A request that was not recorded gets an error that shows the nearest one that was, and a warning on stderr.",
    "With --against TARGET, or a command after --, it is a client: it says to a live server what the client said, in the same order, and compares the answers. Ids, _meta, cursors and states are not compared, nor what --ignore names. Every difference is printed; there being any is exit code 6, and so is a recording without an answer to compare.",
    "Where the recording has no secrets, what the live server says is compared without them, and the live server is sent [redacted] in their place.",
  ],
  arguments: [{ name: "FILE", summary: "what plenum record has written" }],
  options,
  examples: [
    {
      command: "plenum call add a=1 b=2 -- plenum replay talk.jsonl",
      summary: "A call to the recording in place of the server",
    },
    { command: "plenum replay talk.jsonl --against server.ts", summary: "Does the server still answer as it did?" },
    {
      command: "plenum replay talk.jsonl --ignore /result/structuredContent/time --json -- node server.js",
      summary: "The same of a server that a command starts, for a script",
    },
  ],
  async run(invocation) {
    const { readRecording } = await import("../recording-file.ts");
    const conversation = await readRecording(invocation.arguments.FILE as string, (text) =>
      invocation.output.warn(toHarmless(text)),
    );
    const isClient = invocation.options.against !== undefined || invocation.rest !== undefined;
    return isClient ? compare(conversation, invocation) : serve(conversation, invocation);
  },
});

async function serve(conversation: Conversation, { options, output, signal }: ReplayInvocation): Promise<undefined> {
  if (output.isJson) {
    throw new Failure(
      "usage",
      "As a server, replay has no --json: what it writes to stdout is the conversation itself",
      {
        hint: "With --against TARGET there is a result to print.",
      },
    );
  }
  const [{ replayTarget }, { relay }] = await Promise.all([import("plenum/testing"), import("../relay.ts")]);
  const warn = (problem: string): void => output.warn(toHarmless(problem));
  const target = replayTarget(conversation, {
    ignore: options.ignore.map((pointer) => pointer.replace(/^\/params(?=\/|$)/, "")),
    repeats: options.repeat,
    onUnexpected: warn,
  });
  const lost = await relay(await target.open(), { noted: warn, signal });
  if (lost instanceof Error) warn(`The recording ends here as it did: ${lost.message}`);
}

async function compare(conversation: Conversation, invocation: ReplayInvocation): Promise<number | undefined> {
  const { options, output, rest } = invocation;
  if (options.against !== undefined && rest) {
    throw new Failure("usage", "There is a server after --against and another after --", { hint: "Name one of them." });
  }
  const timeoutMs = (options.timeout ?? 10) * 1000;
  if (!(timeoutMs > 0)) throw new Failure("usage", "--timeout must be a number of seconds above 0");
  const spec = await findTarget(options.against, rest, options);
  const { replayClient } = await import("plenum/testing");
  const opened = await openTarget(spec, invocation);
  try {
    output.status(`Playing ${conversation.header.name} to ${spec.name} …`);
    const report = await replayClient(conversation, opened.target, { ignore: options.ignore, timeoutMs });
    output.status(undefined);
    return show(report, invocation);
  } finally {
    output.status(undefined);
    await opened.close();
  }
}

function show({ compared, differences, format }: ReplayReport, { output }: ReplayInvocation): number | undefined {
  const said = `${compared} answer${compared === 1 ? "" : "s"} compared`;
  const value = { compared, differences };
  if (differences.length === 0 && compared > 0) {
    output.result(value, `${said}: all as recorded.`);
    return undefined;
  }
  if (differences.length === 0) {
    const message = "Nothing was compared: the recording has no answer of a server to a request.";
    output.badResult(value, message, { code: "nothing_compared", exitCode: exitCodes.problems, message });
    return exitCodes.problems;
  }
  const message = `${said}: ${differences.length} difference${differences.length === 1 ? "" : "s"}.`;
  output.badResult(value, toHarmless(`${format()}${message}`), {
    code: "differences",
    exitCode: exitCodes.problems,
    message,
  });
  return exitCodes.problems;
}
