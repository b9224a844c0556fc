// The everything client as a program: does to the server at the URL what the scenario of the official suite wants done.
// The suite says which one, and in which revision, by variables of the environment. Exit code 0: all was done; 1: the
// server or the library failed; 2: nothing was tried.

import { type Client, type ClientOptions, connect, type JsonObject, type Revision, revisions } from "plenum";
import { expectEnd, toAuth } from "./client-auth.ts";

type Scenario = (client: Client) => Promise<unknown>;

interface Plan {
  readonly run: Scenario;
  /** What the client can be asked. */
  readonly options?: ClientOptions;
}

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_PROTOCOL_VERSION: version } = process.env;

const listTools: Scenario = (client) => client.listTools().all();

/** One of the suite's servers has no tools, and says so. */
const listAnyTools: Scenario = async (client) => client.server.capabilities.tools && listTools(client);

async function call(client: Client, name: string, args: JsonObject = {}): Promise<string> {
  const { isError, text } = await client.callTool(name, args);
  if (isError) throw new Error(`the tool ${name} failed: ${text}`);
  return text;
}

function contextOf(name: string): JsonObject {
  const text = process.env.MCP_CONFORMANCE_CONTEXT;
  if (!text && !name.startsWith("auth/")) throw new Error(`${name} needs MCP_CONFORMANCE_CONTEXT`);
  return JSON.parse(text ?? "{}");
}

/** Whoever is let in does this. */
const authorized: Plan = {
  async run(client) {
    for (const { name } of await client.listTools().all()) await call(client, name);
  },
};

const plans: { readonly [scenario: string]: Plan } = {
  initialize: { run: listAnyTools },

  tools_call: {
    async run(client) {
      await client.listTools().all();
      await call(client, "add_numbers", { a: 5, b: 3 });
    },
  },

  // The form is accepted as it came: what it leaves out is the library's to fill in.
  "elicitation-sep1034-client-defaults": {
    options: { onElicit: () => ({ action: "accept", content: {} }) },
    async run(client) {
      await client.listTools().all();
      await call(client, "test_client_elicitation_defaults");
    },
  },

  "sse-retry": {
    async run(client) {
      await client.listTools().all();
      await call(client, "test_reconnection");
    },
  },

  "request-metadata": {
    options: {
      onElicit: () => ({ action: "decline" }),
      onSample: () => ({ role: "assistant", content: { type: "text", text: "Hello" }, model: "none" }),
      roots: [],
    },
    run: (client) => client.ping(),
  },

  "http-standard-headers": {
    async run(client) {
      const [tool] = await client.listTools().all();
      if (tool) await call(client, tool.name);
      const [resource] = await client.listResources().all();
      if (resource) await client.readResource(resource.uri);
      const [prompt] = await client.listPrompts().all();
      if (prompt) await client.getPrompt(prompt.name);
    },
  },

  "http-custom-headers": {
    async run(client) {
      await client.listTools().all();
      const { toolCalls } = contextOf("http-custom-headers") as {
        toolCalls: { name: string; arguments: JsonObject }[];
      };
      for (const { name, arguments: args } of toolCalls) await call(client, name, args);
    },
  },

  // What the library left in the list is called, all of it: a tool that should have been left out would be noticed.
  "http-invalid-tool-headers": {
    async run(client) {
      for (const { name } of await client.listTools().all()) await call(client, name, { region: "us-west1" });
    },
  },

  "sep-2322-client-request-state": {
    options: { onElicit: () => ({ action: "accept", content: { confirmed: true } }) },
    async run(client) {
      await client.listTools().all();
      for (const name of ["echo_state", "no_state", "unrelated", "no_result_type"])
        await call(client, `test_mrtr_${name}`);
    },
  },

  "json-schema-ref-no-deref": { run: listTools },

  "json-schema-2020-12-preservation": {
    async run(client) {
      const tools = await client.listTools().all();
      const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
      if (!focal) throw new Error("the server lists no json_schema_2020_12_tool");
      await call(client, "json_schema_echo", { schema: focal.inputSchema });
    },
  },
};

function revisionOf(text: string | undefined): Revision | undefined {
  const revision = revisions.find((known) => known === text);
  if (text !== undefined && !revision) throw new Error(`MCP_CONFORMANCE_PROTOCOL_VERSION ${text} is not spoken`);
  return revision;
}

async function main(url: string | undefined): Promise<void> {
  const name = scenario ?? "";
  const plan = Object.hasOwn(plans, name) ? plans[name] : name.startsWith("auth/") ? authorized : undefined;
  if (!url || !plan) {
    console.error(
      `usage: MCP_CONFORMANCE_SCENARIO=<name> client <server URL>, with one of ${Object.keys(plans).join(", ")}`,
    );
    if (scenario) console.error(`This client cannot play ${scenario}: it has no skills.`);
    process.exitCode = 2;
    return;
  }
  const revision = revisionOf(version);
  const isAuthorized = name.startsWith("auth/");
  const target = isAuthorized ? { url, auth: await toAuth(name, contextOf(name)) } : url;
  await expectEnd(name, async () => {
    const client = await connect(target, {
      info: { name: "plenum-everything-client", version: "1.0.0" },
      ...(revision && { revision }),
      ...plan.options,
    });
    try {
      await plan.run(client);
    } finally {
      await client.close();
    }
  });
}

main(process.argv[2]).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
