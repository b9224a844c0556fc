// The official client of the 1.x line (up to 2025-11-25) over its own transports, in the shape of harness.ts.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CompleteRequest,
  CreateMessageRequestSchema,
  type CreateMessageResult,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type LoggingLevel,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import {
  type Command,
  type Endpoint,
  type Exchange,
  type Handlers,
  type Obj,
  type OfficialClient,
  tapFetch,
  untilListening,
} from "../harness.ts";

/** This client has no option to be held to a revision: `held` is put into what it sends first. */
export async function connectOfficial(
  peer: Command | Endpoint,
  handlers: Handlers = {},
  held?: string,
): Promise<OfficialClient> {
  const { elicit, sample, roots } = handlers;
  const capabilities = {
    ...(elicit && { elicitation: { form: {} } }),
    ...(sample && { sampling: {} }),
    ...(roots && { roots: {} }),
  };
  const client = new Client({ name: "official-1x", version: "1.0.0" }, { capabilities });
  const logs: Obj[] = [];
  const updates: string[] = [];
  const changes: string[] = [];
  let stderr = "";
  let revision: string | undefined;

  if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: "cancel", ...elicit(params) }));
  if (sample)
    client.setRequestHandler(
      CreateMessageRequestSchema,
      ({ params }) => sample(params) as unknown as CreateMessageResult,
    );
  if (roots) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots() }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updates.push(params.uri));
  client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void changes.push(method));

  const exchanges: Exchange[] = [];
  const transport = toTransport(peer, exchanges, (chunk) => {
    stderr += chunk;
  });
  if (held !== undefined) hold(transport, held);
  // The client keeps the revision to itself, and tells it a transport that wants to know.
  const { setProtocolVersion } = transport;
  transport.setProtocolVersion = (version) => {
    revision = version;
    setProtocolVersion?.call(transport, version);
  };
  await client.connect(transport);

  return {
    logs,
    updates,
    changes,
    exchanges,
    listening: () => untilListening(exchanges, "url" in peer),
    stderr: () => stderr,
    revision: () => revision,
    serverInfo: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, toolArgs, { onProgress, signal } = {}) =>
      client.callTool({ name, ...(toolArgs && { arguments: toolArgs }) }, undefined, {
        ...(onProgress && { onprogress: onProgress }),
        ...(signal && { signal }),
      }),
    listResources: async () => (await client.listResources()).resources,
    listResourceTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readResource: async (uri) => (await client.readResource({ uri })).contents,
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    unsubscribe: async (uri) => void (await client.unsubscribeResource({ uri })),
    watchTools: async () => {},
    listPrompts: async () => (await client.listPrompts()).prompts,
    getPrompt: async (name, promptArgs) => (await client.getPrompt({ name, arguments: promptArgs })).messages,
    complete: async (ref, argument) =>
      (await client.complete({ ref, argument } as CompleteRequest["params"])).completion.values,
    ping: async () => void (await client.ping()),
    setLogLevel: async (level) => void (await client.setLoggingLevel(level as LoggingLevel)),
    close: () => client.close(),
  };
}

function toTransport(peer: Command | Endpoint, exchanges: Exchange[], onStderr: (text: string) => void): Transport {
  if ("url" in peer) {
    const Kind = peer.over === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
    // Its types say of members that are absent that they are undefined.
    return new Kind(new URL(peer.url), { fetch: tapFetch(exchanges) }) as Transport;
  }
  const transport = new StdioClientTransport({ command: peer.command, args: [...peer.args], stderr: "pipe" });
  transport.stderr?.on("data", (chunk) => onStderr(String(chunk)));
  return transport;
}

function hold(transport: Transport, revision: string): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    "method" in message && message.method === "initialize"
      ? send({ ...message, params: { ...message.params, protocolVersion: revision } }, options)
      : send(message, options);
}
