// The official client of the 1.x line (up to 2025-11-25) over its own stdio transport, in the shape of harness.ts.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
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
import type { Command, Handlers, Obj, OfficialClient } from "../harness.ts";

export async function connectOfficial({ command, args }: Command, handlers: Handlers = {}): Promise<OfficialClient> {
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

  const transport = new StdioClientTransport({ command, args: [...args], stderr: "pipe" });
  transport.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  // The client keeps the revision to itself, and tells it a transport that wants to know.
  Object.assign(transport, { setProtocolVersion: (version: string) => (revision = version) });
  await client.connect(transport);

  return {
    logs,
    updates,
    changes,
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
