// What is bundled: a server of one tool behind a fetch handler, as it runs at the edge, and a client over HTTP that calls it. Each
// is the shortest that the documentation of its library shows. A server exports `handle(request)`, a client `call(url)`.

export interface Programs {
  /** Without a schema library where the target needs none, else with zod. */
  readonly server?: string;
  /** The tool's schema is one of zod's. */
  readonly zodServer?: string;
  readonly client?: string;
}

const info = '{ name: "small", version: "1.0.0" }';
const schema = "z.object({ text: z.string() })";
const zod = 'import * as z from "zod";';
const answer = 'async ({ text }) => ({ content: [{ type: "text", text }] })';
const args = '{ name: "echo", arguments: { text: "hello" } }';

const plenumServer = (input: string, imports = ""): string => `
  import { createServer } from "plenum/tools";
  import { toFetchHandler } from "plenum/http";
  ${imports}
  const server = createServer(${info});
  server.tool("echo", { description: "Echo", input: ${input} }, ({ text }) => text);
  export const handle = toFetchHandler(server);`;

/** Hands a session's requests to its transport. */
const bySession = (create: string, handle: string): string => `
  const sessions = new Map();
  export async function handle(request) {
    let session = sessions.get(request.headers.get("mcp-session-id"));
    if (!session) {
      ${create}
    }
    return ${handle};
  }`;

const v1Build = `
  import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
  ${zod}
  function build() {
    const server = new McpServer(${info});
    server.registerTool("echo", { description: "Echo", inputSchema: ${schema} }, ${answer});
    return server;
  }`;

const v1Session = (transport: string): string => `
  session = new ${transport}({
    sessionIdGenerator: () => crypto.randomUUID(),
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, session),
  });
  await build().connect(session);`;

export const programs: { readonly [target: string]: Programs } = {
  plenum: {
    server: plenumServer('{ type: "object", properties: { text: { type: "string" } }, required: ["text"] }'),
    zodServer: plenumServer(schema, zod),
    client: `
      import { connect } from "plenum";
      export async function call(url) {
        const client = await connect(url);
        const result = await client.callTool("echo", { text: "hello" });
        await client.close();
        return result.text;
      }`,
  },
  v1: {
    zodServer: `${v1Build}
      import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
      ${bySession(v1Session("WebStandardStreamableHTTPServerTransport"), "session.handleRequest(request)")}`,
    client: `
      import { Client } from "@modelcontextprotocol/sdk/client/index.js";
      import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
      export async function call(url) {
        const client = new Client(${info});
        await client.connect(new StreamableHTTPClientTransport(new URL(url)));
        const result = await client.callTool(${args});
        await client.close();
        return result.content[0].text;
      }`,
  },
  v2: {
    zodServer: `
      import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
      ${zod}
      const handler = createMcpHandler(() => {
        const server = new McpServer(${info});
        server.registerTool("echo", { description: "Echo", inputSchema: ${schema} }, ${answer});
        return server;
      });
      export const handle = (request) => handler.fetch(request);`,
    client: `
      import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
      export async function call(url) {
        const client = new Client(${info});
        await client.connect(new StreamableHTTPClientTransport(new URL(url)));
        const result = await client.callTool(${args});
        await client.close();
        return result.content[0].text;
      }`,
  },
  tmcp: {
    zodServer: `
      import { McpServer } from "tmcp";
      import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
      import { HttpTransport } from "@tmcp/transport-http";
      ${zod}
      const server = new McpServer(
        { ...${info}, description: "small" },
        { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
      );
      server.tool({ name: "echo", description: "Echo", schema: ${schema} }, ${answer});
      const transport = new HttpTransport(server, { path: "/mcp" });
      export const handle = (request) => transport.respond(request);`,
  },
  "hono-mcp": {
    zodServer: `${v1Build}
      import { StreamableHTTPTransport } from "@hono/mcp";
      import { Hono } from "hono";
      const app = new Hono();
      const sessions = new Map();
      app.all("/mcp", async (context) => {
        let session = sessions.get(context.req.header("mcp-session-id"));
        if (!session) {
          ${v1Session("StreamableHTTPTransport")}
        }
        return session.handleRequest(context);
      });
      export const handle = (request) => app.fetch(request);`,
  },
};
