// `plenum login`: leave to call a server, from who gives it, kept for the calls to come.
import { connect } from "plenum";
import type { Granted, Redirect } from "plenum/auth/client";
import { hasAuthorization } from "../auth/session-auth.ts";
import { defineCommand, type Invocation, type OptionSpecs } from "../command.ts";
import { Failure } from "../failure.ts";
import { type Output, toHarmless } from "../output.ts";
import { sessionOptions } from "../session.ts";
import { findTarget } from "../target/find.ts";
import type { UrlSpec } from "../target/spec.ts";

const options = {
  scope: { kind: "list", value: "SCOPE", summary: "What to ask for, in place of what the server asks for" },
  "client-id": { kind: "text", value: "ID", summary: "The client that the authorization server knows us by" },
  "client-secret": {
    kind: "text",
    value: "SECRET",
    summary: "Its secret, if it has one; best as a reference: @env:, @file: or @keychain:",
  },
  "no-browser": { kind: "flag", summary: "Show the address, and take the one that it leads to from the terminal" },
  force: { kind: "flag", summary: "Log in anew, even where there is a login already" },
  header: sessionOptions.header,
} as const satisfies OptionSpecs;

export const command = defineCommand({
  name: "login",
  summary: "Log in at a server that wants to know who you are",
  description: [
    "Connects to a server at a URL. When it wants a login, the browser is opened at the page of its authorization server. What that grants is kept, and used by every command from then on; it is renewed by itself where it can be.",
    "Logins are in tokens.json, in the folder plenum of $XDG_STATE_HOME or ~/.local/state (on Windows: %LOCALAPPDATA%), which only you can read. No token is ever shown.",
    "Most authorization servers let a program register itself. Where yours does not, its owner gives you a client id, and perhaps a secret: --client-id and --client-secret. A reference is kept as a reference.",
    "On a machine without a browser, --no-browser shows the address, to be opened elsewhere. The page leads to an address of this machine, which that browser may not be able to show: paste it back.",
    "Commands that meet a server without a login ask at a terminal whether to open the browser. In scripts they end with exit code 3.",
  ],
  arguments: [
    {
      name: "URL",
      summary: "the server: its URL, or an entry that has one, such as mcp.json:name or cursor:name",
    },
  ],
  options,
  examples: [
    { command: "plenum login https://example.com/mcp", summary: "Log in with the browser" },
    { command: "plenum login https://example.com/mcp --no-browser", summary: "On a machine without one" },
    { command: "plenum login https://example.com/mcp --scope notes:read", summary: "Ask for no more than this" },
    {
      command: "plenum login https://example.com/mcp --client-id app --client-secret @env:APP_SECRET",
      summary: "As a client that is registered by hand",
    },
  ],
  run,
});

async function run(invocation: Invocation<typeof options>): Promise<undefined> {
  const { output } = invocation;
  const spec = await findServer(invocation);
  const { server, granted, isNew } = await logIn(spec, invocation);
  const known = toHarmless(server);
  if (!granted) {
    output.result({ server, isLoggedIn: false, isNew }, `${known} answers without a login.`);
    output.note("With --force you log in all the same, where it has an authorization server.");
    return;
  }
  const { issuer, scopes, isRenewable, clientId } = granted;
  const expiresAt = granted.expiresAt === undefined ? undefined : new Date(granted.expiresAt).toISOString();
  output.result(
    { server, isLoggedIn: true, isNew, issuer, scopes, expiresAt, isRenewable, clientId },
    [`${isNew ? "Logged in" : "You are logged in already"} at ${known}.`, ...describe(granted)].join("\n"),
  );
  if (!isNew) output.note("With --force you log in anew.");
}

async function findServer({ arguments: named, rest, options: given }: Invocation<typeof options>): Promise<UrlSpec> {
  const spec = await findTarget(named.URL, rest, { header: given.header, env: [], cwd: undefined });
  if (spec.kind !== "url") {
    throw new Failure("usage", "Only a server at a URL can want a login", {
      hint: "What a command needs to know goes into its environment: --env KEY=VALUE.",
    });
  }
  if (hasAuthorization(spec)) {
    throw new Failure("usage", "There is a header Authorization for this server, which is used in place of a login", {
      hint: "Leave out the header to log in.",
    });
  }
  if (given["client-secret"] !== undefined && given["client-id"] === undefined)
    throw new Failure("usage", "--client-secret needs --client-id", { hint: "A secret belongs to a client." });
  return spec;
}

interface LoggedIn {
  readonly server: string;
  readonly granted: Granted | undefined;
  /** Somebody was asked. */
  readonly isNew: boolean;
}

async function logIn(spec: UrlSpec, invocation: Invocation<typeof options>): Promise<LoggedIn> {
  const { options: given, output, signal } = invocation;
  const [{ httpTarget }, { openLogin }, { version }] = await Promise.all([
    import("plenum/http/client"),
    import("../auth/login.ts"),
    import("../identity.ts"),
  ]);
  const { url, headers, name } = spec;
  let isNew = false;
  const redirect = await toRedirect(given["no-browser"], output);
  const noticed: Redirect = {
    async begin(registered) {
      isNew = true;
      output.status(undefined);
      return redirect.begin(registered);
    },
  };
  const scopes = given.scope.flatMap((one) => one.split(/[\s,]+/)).filter((one) => one !== "");
  const id = given["client-id"];
  const client = id === undefined ? undefined : { id, secret: given["client-secret"] };
  const login = await openLogin({ url, redirect: noticed, scopes, client });
  const before = await login.granted(url);
  const isEnough = scopes.every((scope) => before?.scopes?.includes(scope));
  if (given.force || !isEnough || (client && client.id !== before?.clientId)) await login.forget(url);
  output.status(`Connecting to ${name} …`);
  const connected = await connect(httpTarget({ url, headers, auth: login }), {
    info: { name: "plenum-cli", version },
    signal,
    connectTimeoutMs: loginMs,
    onWarning: (problem) => output.warn(toHarmless(problem)),
  });
  try {
    // Some let everybody in, and ask only of who wants something.
    if (!(await login.granted(url)) && connected.server.capabilities.tools) await connected.listTools({ signal }).all();
  } finally {
    await connected.close();
  }
  if (given.force && !(await login.granted(url))) {
    const server = new URL(url);
    await login.refused({ method: "POST", url: server, server, signal }, { status: 401, header: () => undefined }, {});
  }
  const granted = await login.granted(url);
  if (granted) await login.keepClient();
  output.status(undefined);
  return { server: name, granted, isNew };
}

/** How long a user may take, and the server after that. */
const loginMs = 360_000;

async function toRedirect(isWithoutBrowser: boolean, output: Output): Promise<Redirect> {
  if (isWithoutBrowser) return (await import("plenum/auth/node")).terminalRedirect();
  return (await import("../auth/browser-redirect.ts")).createBrowserRedirect(output);
}

function describe({ issuer, scopes, expiresAt, isRenewable }: Granted): string[] {
  const end = expiresAt === undefined ? "until it is taken back" : `until ${new Date(expiresAt).toISOString()}`;
  return [
    `Granted by ${toHarmless(issuer)}, ${end}${isRenewable ? "; renewed by itself" : ""}.`,
    ...(scopes && scopes.length > 0 ? [`Scopes: ${toHarmless(scopes.join(" "))}`] : []),
  ];
}
