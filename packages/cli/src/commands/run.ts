// `plenum run`: the server that a file exports, on stdio or over HTTP.
import type { ServeHttpOptions } from "plenum/http/node";
import { defineCommand, type Invocation, type OptionValues } from "../command.ts";
import { Failure } from "../failure.ts";
import { assertFile, parseFileSpec } from "../load/file-spec.ts";
import type { LoadedServer } from "../load/server.ts";
import { describeThrown } from "../load/thrown.ts";
import { toHarmless } from "../output.ts";
import type { FileSpec } from "../target/spec.ts";

const options = {
  transport: {
    kind: "text",
    short: "t",
    value: "NAME",
    choices: ["stdio", "http", "sse"],
    summary: "How clients reach it: stdio, http, or http with the older HTTP+SSE besides",
    fallback: "stdio",
  },
  host: { kind: "text", value: "ADDRESS", summary: "The address to listen on", fallback: "127.0.0.1" },
  port: { kind: "number", value: "NUMBER", summary: "The port to listen on; 0 is any that is free", fallback: "3000" },
  path: { kind: "text", value: "PATH", summary: "Where MCP is spoken", fallback: "/mcp, with sse /sse" },
  "allow-host": {
    kind: "list",
    value: "NAME",
    summary: "A name under which clients reach it from elsewhere, such as mcp.example.com",
  },
} as const;

type RunInvocation = Invocation<typeof options>;

export const command = defineCommand({
  name: "run",
  summary: "Serve the server that a file exports",
  description: [
    "Loads a file and serves the Plenum server that it exports: the first of its exports default, mcp, server and app that is one, or the one that is named after a colon, as in server.ts:weather. TypeScript runs as it is: types are taken away, not checked.",
    "On stdio, which is what hosts start, messages have stdout to themselves: what the file prints goes to stderr, here and over HTTP. It ends when stdin does.",
    "With -t http it listens on this machine alone. To be reached from elsewhere it needs --host, and --allow-host with the name that clients use, because a page in a browser could call it otherwise. Every revision of MCP is spoken on one path; -t sse adds the transport of 2024-11-05, whose stream is at --path, beside /mcp.",
    "Variables whose values begin with @env:, @file: or @keychain: are references to secrets, and are resolved before the file is loaded. Ctrl-C, or SIGTERM, gives calls that run a moment to finish and ends with exit code 0; a second one does not wait, and ends with 130.",
  ],
  arguments: [{ name: "FILE", summary: "the file, such as server.ts or server.ts:name" }],
  options,
  examples: [
    { command: "plenum run server.ts", summary: "On stdio, as a host starts it" },
    { command: "plenum run server.ts:weather -t http --port 8080", summary: "One of its exports, over HTTP" },
    {
      command: "plenum run server.ts -t http --host 0.0.0.0 --allow-host mcp.example.com",
      summary: "For clients elsewhere",
    },
  ],
  async run(invocation) {
    const spec = parseFileSpec(invocation.arguments.FILE as string);
    const { transport = "stdio" } = invocation.options;
    assertOptions(invocation.options, transport);
    assertFile(spec);
    await resolveReferences();
    watchMishaps(spec);
    if (transport === "stdio") await runStdio(spec, invocation);
    else await runHttp(spec, invocation, transport === "sse");
    return undefined;
  },
});

function assertOptions(given: OptionValues<typeof options>, transport: string): void {
  if (transport !== "stdio") return;
  const { host, port, path, "allow-host": hosts } = given;
  const name = Object.entries({ host, port, path, "allow-host": hosts[0] }).find(
    ([, value]) => value !== undefined,
  )?.[0];
  if (name) throw new Failure("usage", `--${name} is for a server over HTTP`, { hint: "Add -t http." });
}

/** The file finds values where references were, as if they had been there all along. */
async function resolveReferences(): Promise<void> {
  const references = Object.entries(process.env).filter(([, value]) => /^@(?:env|file|keychain):/.test(value ?? ""));
  if (references.length === 0) return;
  const { resolveEnv } = await import("../secrets/references.ts");
  Object.assign(process.env, await resolveEnv(Object.fromEntries(references) as { [name: string]: string }));
}

/**
 * A promise that nobody waits for should not end a server that others use, nor go unseen; an exception that nobody caught has
 * left it in a state that nobody knows. A file that listens to these itself decides itself.
 */
function watchMishaps(spec: FileSpec): void {
  const say = (what: string, error: unknown): void => {
    process.stderr.write(`${toHarmless(`${spec.name}: ${what}: ${describeThrown(error)}`)}\n`);
  };
  process.on("unhandledRejection", (reason) => {
    if (process.listenerCount("unhandledRejection") === 1)
      say("a promise was rejected, and nothing handles that", reason);
  });
  // The one of every command ends the process, whoever else listens.
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => {
    if (process.listenerCount("uncaughtException") > 1) return;
    say("an exception was not caught, so the server ends", error);
    process.exit(1);
  });
}

async function runStdio(spec: FileSpec, { output, signal }: RunInvocation): Promise<void> {
  const { server, library, release } = await load(spec, signal);
  const { serveStdio } = await library.import<typeof import("plenum/stdio")>("plenum/stdio");
  // From here on the library decides what a broken stdout means: it closes the server first.
  process.stdout.removeAllListeners("error");
  // The library takes stdout in the same turn.
  release();
  const serving = serveOrFail(spec, () => serveStdio(server));
  if (process.stdin.isTTY)
    output.note(
      `${spec.name} waits for messages on stdin, as a host sends them. To call its tools: plenum list ${spec.name}. Ctrl-C ends it.`,
    );
  await serving.closed;
}

/** What the file prints goes to stderr until `release` is called. */
async function load(spec: FileSpec, signal: AbortSignal): Promise<LoadedServer & { release(): void }> {
  const [{ loadServer }, { divertStdout }] = await Promise.all([
    import("../load/server.ts"),
    import("../load/stdout.ts"),
  ]);
  const release = divertStdout();
  const loaded = await loadServer(spec);
  signal.throwIfAborted();
  return { ...loaded, release };
}

function serveOrFail<T>(spec: FileSpec, serve: () => T): T {
  try {
    return serve();
  } catch (error) {
    if (!/served already/.test((error as Error).message)) throw error;
    throw new Failure("usage", `${spec.name} serves on stdin by itself`, {
      code: "served_already",
      hint: `Run it as it is, node ${spec.name}, or let it export the server and not serve it.`,
      cause: error,
    });
  }
}

async function runHttp(
  spec: FileSpec,
  { options: given, output, signal }: RunInvocation,
  hasSse: boolean,
): Promise<void> {
  const { server, library } = await load(spec, signal);
  const { serveHttp } = await library.import<typeof import("plenum/http/node")>("plenum/http/node");
  const { host, port = 3000, path, "allow-host": allowedHosts } = given;
  const ssePath = path ?? "/sse";
  const httpOptions: ServeHttpOptions = {
    port,
    ...(host !== undefined && { host }),
    ...(path !== undefined && !hasSse && { path }),
    ...(hasSse && { sse: { path: ssePath } }),
    ...(allowedHosts.length > 0 && { allowedHosts }),
  };
  const serving = await serveHttp(server, httpOptions).catch((error: unknown) => {
    throw toServeFailure(error);
  });
  const { url } = serving;
  const sseUrl = hasSse ? new URL(ssePath, url).href : undefined;
  if (output.isJson) output.event({ kind: "listening", url, sseUrl }, "");
  output.note(`${spec.name} is served at ${url}${sseUrl ? ` and, for clients of 2024-11-05, at ${sseUrl}` : ""}`);
  const stop = (): void => void serving.close();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  await serving.closed;
  await server.close?.();
}

/** What the library says of options is true of ours, under other names. */
function toServeFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("serveHttp: ")) return error;
  const cause = error;
  const { code } = (error.cause ?? {}) as { readonly code?: string };
  const message = error.message.slice("serveHttp: ".length);
  if (code === "EADDRINUSE") {
    const [where = ""] = /\S+:\d+/.exec(message) ?? [];
    return new Failure("usage", `Another program listens on ${where} already`, {
      code: "port_taken",
      hint: "Choose another port with --port, or --port 0 for any that is free.",
      cause,
    });
  }
  if (/^Listening on .* reachable from elsewhere/.test(message)) {
    return new Failure("usage", message.split(". ")[0] as string, {
      code: "exposed",
      hint: "Name how clients reach it: --allow-host mcp.example.com. Or leave out --host, and it is for this machine alone.",
      cause,
    });
  }
  return new Failure("usage", message[0]?.toUpperCase() + message.slice(1), {
    code: code === undefined ? "invalid_option" : "cannot_listen",
    hint: "plenum run --help explains the options.",
    cause,
  });
}
