// `plenum run`: the server that a file exports, on stdio or over HTTP.
import type { ServeHttpOptions } from "plenum/http/node";
import { defineCommand, type Invocation, type OptionValues } from "../command.ts";
import { Failure } from "../failure.ts";
import { assertFile, parseFileSpec } from "../load/file-spec.ts";
import { watchMishaps } from "../load/mishaps.ts";
import { resolveReferences } from "../load/references.ts";
import { toServeFailure } from "../load/serve-failure.ts";
import { serveOrFail } from "../load/served-already.ts";
import type { LoadedServer } from "../load/server.ts";
import { toHarmless } from "../output.ts";
import { divertStdout } from "../streams.ts";
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
    "Variables whose values begin with @env:, @file: or @keychain: are references to secrets, and are resolved before the file is loaded. Ctrl-C, or SIGTERM, gives calls that run a moment to finish and ends with exit code 0; a second one does not wait, and ends with 130, or 143 for SIGTERM.",
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
      toHarmless(
        `${spec.name} waits for messages on stdin, as a host sends them. What it has: plenum list ${spec.path}. Ctrl-C ends it.`,
      ),
    );
  await serving.closed;
}

/** What the file prints goes to stderr until `release` is called. */
async function load(spec: FileSpec, signal: AbortSignal): Promise<LoadedServer & { release(): void }> {
  const { loadServer } = await import("../load/server.ts");
  const release = divertStdout();
  const loaded = await loadServer(spec);
  signal.throwIfAborted();
  return { ...loaded, release };
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
    throw toServeFailure(error, "run");
  });
  const { url } = serving;
  const sseUrl = hasSse ? new URL(ssePath, url).href : undefined;
  if (output.isJson) output.event({ kind: "listening", url, sseUrl }, "");
  const besides = sseUrl ? ` and, for clients of 2024-11-05, at ${sseUrl}` : "";
  output.note(toHarmless(`${spec.name} is served at ${url}${besides}`));
  const stop = (): void => void serving.close();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  await serving.closed;
  await server.close?.();
}
