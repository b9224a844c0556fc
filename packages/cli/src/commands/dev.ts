// `plenum dev`: serves the server of a file, and reloads it when the file changes, under connections that stay.
import { defineCommand, type Invocation, type OptionValues } from "../command.ts";
import type { KeyWatch } from "../dev/keys.ts";
import { Failure } from "../failure.ts";
import { assertFile, parseFileSpec } from "../load/file-spec.ts";
import { resolveReferences } from "../load/references.ts";
import { toServeFailure } from "../load/serve-failure.ts";

const options = {
  transport: {
    kind: "text",
    short: "t",
    value: "NAME",
    choices: ["stdio", "http"],
    summary: "How hosts connect",
    fallback: "stdio",
  },
  host: { kind: "text", value: "ADDRESS", summary: "The address to listen on, for http", fallback: "127.0.0.1" },
  port: {
    kind: "number",
    value: "NUMBER",
    summary: "The port to listen on, for http; 0 is any that is free",
    fallback: "3000",
  },
  path: { kind: "text", value: "PATH", summary: "Where MCP is spoken, for http", fallback: "/mcp" },
  "allow-host": {
    kind: "list",
    value: "NAME",
    summary: "A name under which clients reach it from elsewhere, such as mcp.example.com",
  },
  with: { kind: "list", value: "PACKAGE", summary: "A package that the file may import, for this run alone" },
  grace: {
    kind: "number",
    value: "SECONDS",
    summary: "How long calls of the version before may still run",
    fallback: "5",
  },
  "no-open": { kind: "flag", summary: "Open nothing in a browser" },
} as const;

export const command = defineCommand({
  name: "dev",
  summary: "Serve the server of a file, and reload it when the file changes",
  description: [
    "Serves the Plenum server that a file exports, and watches the file with all that it imports. When one of them changes, the server is loaded anew in a process of its own, and takes over as soon as it is ready. Hosts do not notice: their connection, session and subscriptions stay, calls that run are finished by the version before, and hosts are told of lists that have changed.",
    "A version that does not load is shown on stderr, and the one before goes on serving until a save mends it. What the server prints with console.log goes to stderr, so that it never gets between the messages of the protocol. A server that crashes is started again.",
    "With -t http it listens on this machine alone, unless --host and --allow-host say otherwise; at a terminal, r reloads and q quits. Ctrl-C ends it either way.",
    "Variables whose values begin with @env:, @file: or @keychain: are references to secrets, and are resolved at the start.",
  ],
  arguments: [{ name: "FILE", summary: "the file, or file:name for one of its exports" }],
  options,
  examples: [
    { command: "plenum dev server.ts", summary: "For a host that starts it, over stdio" },
    { command: "plenum dev server.ts -t http --port 3000", summary: "At http://127.0.0.1:3000/mcp" },
    { command: "plenum dev server.ts:admin --with zod", summary: "One export, with a package that is not installed" },
  ],
  async run(invocation) {
    const grace = invocation.options.grace ?? 5;
    if (!(grace > 0)) throw new Failure("usage", "--grace must be a number of seconds above 0");
    const { options, output, signal } = invocation;
    const isHttp = options.transport === "http";
    const stray = (["host", "port", "path"] as const).find((name) => options[name] !== undefined);
    if (stray && !isHttp) throw new Failure("usage", `--${stray} is for a server over HTTP`, { hint: "Add -t http." });
    const spec = parseFileSpec(invocation.arguments.FILE as string);
    assertFile(spec);
    await resolveReferences();
    watchHangup();
    const extras = options.with.length > 0 ? await installExtras(options.with, output, signal) : undefined;
    const { createSupervisor } = await import("../dev/supervisor.ts");
    let keys: KeyWatch | undefined;
    const onEnd = (): void => keys?.renew();
    const supervisor = createSupervisor({ spec, graceMs: grace * 1000, extras: extras?.folder, output, onEnd });
    try {
      if (isHttp) await overHttp(invocation, supervisor, (watch) => (keys = watch));
      else await overStdio(invocation, supervisor);
    } finally {
      await supervisor.close();
      extras?.remove();
    }
    return undefined;
  },
});

/** A terminal that is closed, and a manager that says so, end it as SIGTERM does: in order. */
function watchHangup(): void {
  process.on("SIGHUP", () => {
    // Nobody reads any more.
    process.stderr.on("error", () => {});
    process.emit("SIGTERM", "SIGTERM");
  });
}

async function installExtras(...given: Parameters<typeof import("../dev/extras.ts").installExtras>) {
  return (await import("../dev/extras.ts")).installExtras(...given);
}

type DevInvocation = Invocation<typeof options> & { readonly options: OptionValues<typeof options> };
type Supervisor = ReturnType<typeof import("../dev/supervisor.ts").createSupervisor>;

async function overStdio({ signal }: DevInvocation, { endpoint }: Supervisor): Promise<void> {
  const { serveStdio } = await import("plenum/stdio");
  // The processes of the server are to be ended before ours.
  const serving = serveStdio(endpoint, { exit: false });
  const stop = (): void => void serving.close();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  await serving.closed;
}

async function overHttp(
  { options, signal, output }: DevInvocation,
  supervisor: Supervisor,
  onKeys: (watch: KeyWatch | undefined) => void,
): Promise<void> {
  const [{ serveHttp }, { tellHeaderNames }, { watchKeys }] = await Promise.all([
    import("plenum/http/node"),
    import("../dev/header-names.ts"),
    import("../dev/keys.ts"),
  ]);
  const { host, port = 3000, path, "allow-host": allowedHosts } = options;
  tellHeaderNames();
  const serving = await serveHttp(supervisor.endpoint, {
    ...(host !== undefined && { host }),
    port,
    ...(allowedHosts.length > 0 && { allowedHosts }),
    ...(path !== undefined && { path }),
    telemetry: false,
  }).catch((error: unknown) => {
    throw toServeFailure(error, "dev");
  });
  const hasKeys = output.canAsk;
  // Stdout is not the protocol's here: a script may be told.
  if (output.isJson) output.event({ kind: "listening", url: serving.url }, "");
  output.note(`Serving at ${serving.url}${hasKeys ? "; r reloads, q quits" : ""}`);
  output.note(`To look at it: plenum list ${serving.url}`);
  const stop = (): void => void serving.close(0);
  const keys = hasKeys
    ? watchKeys((key) => {
        if (key === "r") supervisor.reload();
        if (key === "q") stop();
        // Ctrl-C, which is a key like others while keys are read.
        if (key === "\u0003") process.kill(process.pid, "SIGINT");
      })
    : undefined;
  onKeys(keys);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  await serving.closed;
  onKeys(undefined);
  keys?.stop();
}
