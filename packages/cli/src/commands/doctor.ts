// `plenum doctor`: a server, looked at from all sides, with what to do about what is wrong.
import { writeFile } from "node:fs/promises";
import type { ClientOptions, Revision } from "plenum";
import { defineCommand } from "../command.ts";
import type { Check } from "../doctor/check.ts";
import type { Entry } from "../doctor/run.ts";
import { exitCodes, Failure } from "../failure.ts";
import { escapeControls, type Output } from "../output.ts";
import { openTarget, revisionNames, sessionOptions } from "../session.ts";
import { findTarget } from "../target/find.ts";

// The doctor has nothing to answer with: it says so to the server, and sees whether it is asked all the same.
const { yes: _yes, answer: _answer, ...connectOptions } = sessionOptions;

const requestSeconds = 10;
const connectSeconds = 30;

export const command = defineCommand({
  name: "doctor",
  summary: "Look for faults of a server, and say what to do about them",
  description: [
    "Connects to a server in every revision of MCP that both sides know, checks everything that it answers against the schema of the revision, and looks for the faults that servers are known for: noise on stdout, slow starts, wrong error codes, tools whose names or schemas the APIs of models refuse, tools that cost too many tokens, servers that any web page can reach, and many more.",
    "Each finding says what is wrong, where, and what to do. An error breaks clients or is unsafe; a warning breaks some of them, or makes models choose worse; a note is good to know. Errors end the command with exit code 6, with --strict warnings too; notes are only shown. When there is no connection at all, that alone is reported, and the code is 2, or 3 where authorization is lacking.",
    "The doctor is careful with servers of others: it calls no tool, with two exceptions. A tool that is marked read-only and needs an argument is called once without it, to see that it refuses; and with --call tools that are marked read-only and need nothing are called. Checks that might end the server run in a process or a session of their own.",
    "A check has a name such as tools/name-length; the part before the slash is its topic. --only and --skip take both, and --list shows all.",
  ],
  arguments: [
    { name: "TARGET", summary: "the server: a URL, a file, an entry of a config file, or host:name", isOptional: true },
  ],
  options: {
    ...connectOptions,
    timeout: {
      ...sessionOptions.timeout,
      summary: "How long to wait for an answer, and for a connection",
      fallback: `${requestSeconds}, and ${connectSeconds} for a connection`,
    },
    format: {
      kind: "text",
      value: "FORMAT",
      choices: ["text", "json", "junit"],
      summary: "What the report is written as",
      fallback: "text",
    },
    output: { kind: "text", short: "o", value: "FILE", summary: "Write the report to a file" },
    strict: { kind: "flag", summary: "Warnings fail, too; notes are shown and never fail" },
    only: { kind: "list", value: "CHECK", summary: "Run this check or topic alone" },
    skip: { kind: "list", value: "CHECK", summary: "Leave this check or topic out" },
    list: { kind: "flag", summary: "List the checks and what they look at; run none" },
    call: { kind: "flag", summary: "Call tools that are marked read-only and need no argument" },
  },
  examples: [
    { command: "plenum doctor server.ts", summary: "The server in a file" },
    {
      command: "plenum doctor -- npx -y @modelcontextprotocol/server-everything",
      summary: "One that a command starts",
    },
    { command: "plenum doctor http://127.0.0.1:3000/mcp --only http", summary: "What matters over HTTP alone" },
    { command: "plenum doctor server.ts --strict --format junit --output doctor.xml", summary: "In CI" },
    { command: "plenum doctor --list --only schemas", summary: "What is looked for in the schemas of tools" },
  ],
  async run(invocation) {
    const { options, output, signal } = invocation;
    const [{ selectChecks, runChecks }, { createGround }] = await Promise.all([
      import("../doctor/run.ts"),
      import("../doctor/ground.ts"),
    ]);
    const selected = selectChecks(options.only, options.skip);
    if (options.list) return list(selected, output);
    if (invocation.arguments.TARGET === undefined && !invocation.rest) {
      throw new Failure("usage", "doctor needs TARGET", {
        code: "missing_argument",
        hint: "A TARGET is a URL, a file, an entry of a config file, host:name, or a command after --.",
      });
    }
    const spec = await findTarget(invocation.arguments.TARGET, invocation.rest, options);
    const opened = await openTarget(spec, invocation);
    const pinned = options.revision as Revision | undefined;
    const revisions = pinned || !selected.some((check) => check.spansRevisions) ? [] : revisionNames;
    const onProgress = (text: string): void => output.status(text);
    try {
      const ground = await createGround({
        ...toTimes(options.timeout, signal),
        spec,
        opened,
        pinned,
        revisions,
        signal,
        mayCall: options.call,
        onProgress,
        auth: async () => {
          const { createSessionAuth } = await import("../auth/session-auth.ts");
          return spec.kind === "url" ? createSessionAuth(spec, output) : undefined;
        },
      });
      try {
        const entries = await runChecks(selected, ground, onProgress);
        output.status(undefined);
        return await report(entries, ground.first.visit ? undefined : ground.first.error, options, output);
      } finally {
        onProgress("Closing …");
        await ground.close();
      }
    } finally {
      output.status(undefined);
      await opened.close();
      signal.throwIfAborted();
    }
  },
});

function list(selected: readonly Check[], output: Output): undefined {
  const rows = selected.map(({ id, title, looksAt, appliesTo, severity }) => ({
    id,
    title,
    looksAt,
    appliesTo,
    severity,
  }));
  const lines = rows.map(({ id, title, looksAt, appliesTo }) => {
    const kind = appliesTo === "any" ? "" : ` (${appliesTo})`;
    return `${output.paint("bold", id)}${kind}\n  ${title}.\n  Looks at ${looksAt}.`;
  });
  output.result(rows, lines.join("\n"));
  return undefined;
}

function toTimes(seconds: number | undefined, signal: AbortSignal): { timeoutMs: number; client: ClientOptions } {
  if (seconds !== undefined && seconds <= 0)
    throw new Failure("usage", "--timeout must be a number of seconds above 0");
  const timeoutMs = (seconds ?? requestSeconds) * 1000;
  const connectTimeoutMs = (seconds ?? connectSeconds) * 1000;
  const client = { signal, timeoutMs, connectTimeoutMs, probeTimeoutMs: Math.min(5000, connectTimeoutMs / 2) };
  return { timeoutMs, client };
}

interface ReportOptions {
  readonly format: string | undefined;
  readonly output: string | undefined;
  readonly strict: boolean;
}

/** Writes the report, and gives the exit code. */
async function report(
  entries: readonly Entry[],
  error: unknown,
  options: ReportOptions,
  output: Output,
): Promise<number> {
  const isFailure = ({ status, severity }: Entry): boolean =>
    status === "failed" && (severity === "error" || (options.strict && severity === "warning"));
  const count = entries.filter(isFailure).length;
  const code = error !== undefined ? await toConnectCode(error) : count > 0 ? exitCodes.problems : exitCodes.ok;
  const { toJson } = await import("../doctor/report-json.ts");
  const text = await format(entries, options, output, isFailure);
  if (options.output !== undefined) {
    await write(options.output, text);
    output.note(`The report is in ${options.output}.`);
  } else if (!output.isJson) output.raw(text);
  if (!output.isJson) return code;
  const value = toJson(entries);
  if (code === exitCodes.ok) output.result(value, "");
  else {
    const name = error === undefined ? "problems" : "unreachable";
    const message = error === undefined ? `${count} problems were found` : "There is no connection to be had";
    output.badResult(value, "", { code: name, exitCode: code, message });
  }
  return code;
}

async function format(
  entries: readonly Entry[],
  { format, output: file }: ReportOptions,
  output: Output,
  isFailure: (entry: Entry) => boolean,
): Promise<string> {
  const kind = format ?? (output.isJson ? "json" : "text");
  if (kind === "json") {
    const { toJson } = await import("../doctor/report-json.ts");
    return `${escapeControls(JSON.stringify(toJson(entries), undefined, 2))}\n`;
  }
  if (kind === "junit") return (await import("../doctor/report-junit.ts")).formatJunit(entries, { isFailure });
  const { formatText, isUnicodeLocale } = await import("../doctor/report-text.ts");
  // A file is read by editors, whatever the terminal shows.
  const isFile = file !== undefined;
  return formatText(entries, {
    paint: isFile ? (_, text) => text : output.paint,
    isUnicode: isFile || isUnicodeLocale(process.env),
  });
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new Failure("usage", `The report cannot be written to ${path}: ${(cause as Error).message}`, {
      hint: "Name a file in a folder that exists and may be written to.",
      cause,
    });
  }
}

/** 3 where leave is lacking, else 2. */
async function toConnectCode(error: unknown): Promise<number> {
  const { toFailure } = await import("../show-failure.ts");
  return toFailure(error).exit === "unauthorized" ? exitCodes.unauthorized : exitCodes.unreachable;
}
