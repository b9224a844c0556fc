// `plenum record`: stands between a host and a server, and keeps what they say.
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";
import { openTarget, sessionOptions } from "../session.ts";
import { findTarget } from "../target/find.ts";
import { secretsOf } from "../target/secrets.ts";

const { header, env, cwd, trace } = sessionOptions;

export const command = defineCommand({
  name: "record",
  summary: "Record a conversation between a host and a server",
  description: [
    "Stands in for a server: it is started by a host like any server on stdio, starts or calls the real one, and passes every message on, both ways. What passes is written to a file as it passes, one line of JSON for each message, which plenum replay plays as a fake server or a fake client.",
    "Secrets are taken out before anything is written: values of names such as password, token, authorization, api_key or cookie, values that look like keys, the values of --header and of --env that have six characters or more. What else is private in your conversations is for you to name with --redact. Read a recording before you give it away.",
    "The real server may be a command after --, a URL, a file or an entry of a config file. To record what a host says, put plenum record before the command in the host's configuration, with the path of a folder: each start of the host makes a file of its own in it.",
  ],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: {
    output: {
      kind: "text",
      short: "o",
      value: "FILE",
      summary: "Where to write; a folder gets one file for each conversation",
    },
    force: { kind: "flag", short: "f", summary: "Write over a file that is there" },
    redact: { kind: "list", value: "NAME", summary: "Take out the values of members of this name too" },
    "redact-path": {
      kind: "list",
      value: "POINTER",
      summary: "Take out what is at this place of a message, such as /params/arguments/ssn; * is any member",
    },
    "dangerously-keep-secrets": { kind: "flag", summary: "Write passwords, tokens and all else as they are" },
    header,
    env,
    cwd,
    trace,
  },
  examples: [
    {
      command: "plenum record -o talk.jsonl -- node server.js",
      summary: "As a stdio server that passes everything on to another",
    },
    {
      command: "plenum call add a=1 b=2 -- plenum record -o talk.jsonl https://example.com/mcp",
      summary: "What one call says to a server at a URL",
    },
    {
      command: "plenum record -o recordings/ --redact iban -- npx -y some-server",
      summary: "For a host's configuration: a file for each start, without the values of iban",
    },
  ],
  async run(invocation) {
    const { options, output, signal } = invocation;
    if (output.isJson) {
      throw new Failure("usage", "record has no --json: what it writes to stdout is the conversation itself", {
        hint: "The file is JSON, one message a line.",
      });
    }
    if (options.output === undefined) {
      throw new Failure("usage", "record needs to know where to write: -o FILE", {
        code: "missing_option",
        hint: "Such as: plenum record -o talk.jsonl -- node server.js",
      });
    }
    const spec = await findTarget(invocation.arguments.TARGET, invocation.rest, options);
    const [{ recordTarget }, { relay }, { createRecordingFile }] = await Promise.all([
      import("plenum/testing"),
      import("../relay.ts"),
      import("../recording-file.ts"),
    ]);
    // What the real one says to people is said by whoever stands for it.
    const opened = await openTarget(spec, { output, options: { trace: options.trace, stderr: true } });
    const file = createRecordingFile(options.output, options.force);
    try {
      const target = recordTarget(opened.target, file.write, {
        secrets: secretsOf(spec),
        keys: options.redact,
        paths: options["redact-path"],
        dangerouslyKeepSecrets: options["dangerously-keep-secrets"],
      });
      const lost = await relay(await target.open(), {
        noted: (problem) => output.warn(toHarmless(problem)),
        signal,
      });
      if (lost !== undefined && !signal.aborted) {
        const reason = lost instanceof Error ? lost.message : String(lost);
        throw new Failure("unreachable", `The server was lost: ${reason}`, {
          hint: `What was said until then is in ${file.path}.`,
          cause: lost,
        });
      }
      // The header is a line, too.
      const count = file.lines - 1;
      output.note(`${count === 1 ? "1 line is" : `${count} lines are`} in ${file.path}`);
    } finally {
      file.close();
      await opened.close();
    }
    return undefined;
  },
});
