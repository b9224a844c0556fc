// The official client of the 2.x line (2026-07-28 and all before) over its own transports, in the shape of harness.ts.
// JavaScript, because the types of this client lead the compiler, under the export condition `source`, to the source of a package.
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { register } from "tsx/esm/api";
import { tapFetch, untilListening } from "../harness.ts";

// The tests run with the export condition `source`. A package that this client needs has one too, and it is TypeScript.
const unregister = register();
const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
await unregister();

const newest = "2026-07-28";

export async function connectOfficial(peer, handlers = {}, revision = "auto") {
  const { elicit, sample, roots } = handlers;
  const client = new Client(
    { name: "official-2x", version: "2.0.0" },
    {
      capabilities: {
        ...(elicit && { elicitation: { form: {} } }),
        ...(sample && { sampling: {} }),
        ...(roots && { roots: {} }),
      },
      ...negotiation(revision),
    },
  );
  const logs = [];
  const updates = [];
  const changes = [];
  let stderr = "";
  let logLevel;
  const subscriptions = new Map();

  if (elicit) client.setRequestHandler("elicitation/create", ({ params }) => ({ action: "cancel", ...elicit(params) }));
  if (sample) client.setRequestHandler("sampling/createMessage", ({ params }) => sample(params));
  if (roots) client.setRequestHandler("roots/list", () => ({ roots: roots() }));
  client.setNotificationHandler("notifications/message", ({ params }) => void logs.push(params));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updates.push(params.uri));
  client.setNotificationHandler("notifications/tools/list_changed", ({ method }) => void changes.push(method));

  const exchanges = [];
  const transport = toTransport(peer, exchanges);
  transport.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  await client.connect(transport);
  const isStateless = client.getNegotiatedProtocolVersion() === newest;

  return {
    logs,
    updates,
    changes,
    exchanges,
    listening: () => untilListening(exchanges, "url" in peer && !isStateless),
    stderr: () => stderr,
    revision: () => client.getNegotiatedProtocolVersion(),
    serverInfo: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, toolArgs, { onProgress, signal } = {}) =>
      client.callTool(
        {
          name,
          ...(toolArgs && { arguments: toolArgs }),
          ...(logLevel && { _meta: { "io.modelcontextprotocol/logLevel": logLevel } }),
        },
        { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) },
      ),
    listResources: async () => (await client.listResources()).resources,
    listResourceTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readResource: async (uri) => (await client.readResource({ uri })).contents,
    subscribe: async (uri) => {
      if (isStateless) subscriptions.set(uri, await client.listen({ resourceSubscriptions: [uri] }));
      else await client.subscribeResource({ uri });
    },
    unsubscribe: async (uri) => {
      if (isStateless) await subscriptions.get(uri)?.close();
      else await client.unsubscribeResource({ uri });
    },
    watchTools: async () => {
      if (isStateless) await client.listen({ toolsListChanged: true });
    },
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: async (name, promptArgs) => (await client.getPrompt({ name, arguments: promptArgs })).messages,
    complete: async (ref, argument) => (await client.complete({ ref, argument })).completion.values,
    ping: async () => void (await client.ping()),
    // 2026-07-28 has no level of a session: each request says what it wants to hear.
    setLogLevel: async (level) => {
      if (isStateless) logLevel = level;
      else await client.setLoggingLevel(level);
    },
    close: () => client.close(),
  };
}

function toTransport(peer, exchanges) {
  if (!("url" in peer))
    return new StdioClientTransport({ command: peer.command, args: [...peer.args], stderr: "pipe" });
  const Kind = peer.over === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
  return new Kind(new URL(peer.url), { fetch: tapFetch(exchanges) });
}

function negotiation(revision) {
  if (revision === "default") return {};
  if (revision === "auto") return { versionNegotiation: { mode: "auto" } };
  if (revision === newest) return { versionNegotiation: { mode: { pin: newest } } };
  return { supportedProtocolVersions: [revision] };
}
