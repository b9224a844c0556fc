// `plenum list`: what a server has.
import type { Client, Prompt, Resource, ResourceTemplate, Tool } from "plenum";
import { defineCommand } from "../command.ts";
import { type Paint, toHarmless, toLine } from "../output.ts";
import { formatArguments } from "../schema-look.ts";
import { sessionOptions, withSession } from "../session.ts";

const kinds = ["tools", "resources", "templates", "prompts"] as const;

export const command = defineCommand({
  name: "list",
  summary: "List the tools, resources and prompts of a server",
  description: [
    "Connects to a server, says what it is and which revision was agreed on, and lists what it has. Tools are shown with their arguments as `plenum call` takes them; those in brackets may be left out.",
    "With --json the lists are as the server gives them, schemas and all.",
  ],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: {
    ...sessionOptions,
    tools: { kind: "flag", summary: "List tools" },
    resources: { kind: "flag", summary: "List resources" },
    templates: { kind: "flag", summary: "List resource templates" },
    prompts: { kind: "flag", summary: "List prompts" },
    long: { kind: "flag", short: "l", summary: "Show whole descriptions, and schemas" },
  },
  examples: [
    { command: "plenum list server.ts", summary: "What the server in a file has" },
    {
      command: "plenum list --tools -- npx -y @modelcontextprotocol/server-memory",
      summary: "The tools of one that a command starts",
    },
    { command: "plenum list https://example.com/mcp --json", summary: "All of it, for a program" },
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const wanted = kinds.filter((kind) => options[kind]);
    await withSession(invocation, async ({ client }) => {
      const { info, capabilities, instructions } = client.server;
      const lists = await listAll(client, wanted.length > 0 ? wanted : kinds);
      const value = {
        server: info ?? null,
        revision: client.revision,
        capabilities,
        ...(instructions !== undefined && { instructions }),
        ...lists,
      };
      output.note(
        toLine(
          `${info?.title ?? info?.name ?? "A server without a name"} ${info?.version ?? ""} speaks ${client.revision}`,
        ),
      );
      if (options.long && instructions) output.note(toHarmless(instructions));
      output.result(value, formatLists(lists, options.long, output.paint));
    });
    return undefined;
  },
});

interface Lists {
  tools?: readonly Tool[];
  resources?: readonly Resource[];
  templates?: readonly ResourceTemplate[];
  prompts?: readonly Prompt[];
}

/** Only what the server declares is asked for. */
async function listAll(client: Client, wanted: readonly (typeof kinds)[number][]): Promise<Lists> {
  const { tools, resources, prompts } = client.server.capabilities;
  const want = (kind: (typeof kinds)[number], capability: unknown): boolean =>
    wanted.includes(kind) && capability !== undefined;
  return {
    ...(want("tools", tools) && { tools: await client.listTools().all() }),
    ...(want("resources", resources) && { resources: await client.listResources().all() }),
    ...(want("templates", resources) && { templates: await client.listResourceTemplates().all() }),
    ...(want("prompts", prompts) && { prompts: await client.listPrompts().all() }),
  };
}

function formatLists(
  { tools = [], resources = [], templates = [], prompts = [] }: Lists,
  isLong: boolean,
  paint: Paint,
): string {
  const section = (title: string, blocks: readonly string[]): string[] =>
    blocks.length === 0 ? [] : [`${paint("bold", `${title} (${blocks.length})`)}\n${blocks.join("\n")}`];
  const all = [
    ...section(
      "Tools",
      tools.map((tool) => formatTool(tool, isLong, paint)),
    ),
    ...section(
      "Resources",
      resources.map(({ uri, name, description }) =>
        formatItem(uri, name === uri ? "" : name, description, isLong, paint),
      ),
    ),
    ...section(
      "Templates",
      templates.map(({ uriTemplate, name, description }) => formatItem(uriTemplate, name, description, isLong, paint)),
    ),
    ...section(
      "Prompts",
      prompts.map((prompt) => formatPrompt(prompt, isLong, paint)),
    ),
  ];
  return all.length > 0 ? all.join("\n\n") : "It has nothing to list.";
}

function formatTool(tool: Tool, isLong: boolean, paint: Paint): string {
  const line = formatItem(tool.name, formatArguments(tool.inputSchema), tool.description, isLong, paint);
  if (!isLong) return line;
  const schemas = [tool.inputSchema, tool.outputSchema].map((schema, index) =>
    schema ? `\n    ${index === 0 ? "input" : "output"} ${toHarmless(JSON.stringify(schema))}` : "",
  );
  return line + schemas.join("");
}

function formatPrompt({ name, description, arguments: given = [] }: Prompt, isLong: boolean, paint: Paint): string {
  const words = given.map((one) => (one.required ? `${one.name}=TEXT` : `[${one.name}=TEXT]`));
  return formatItem(name, words.join(" "), description, isLong, paint);
}

/** The name and what goes with it on one line, the description below: its first line, unless all is wanted. */
function formatItem(
  name: string,
  more: string,
  description: string | undefined,
  isLong: boolean,
  paint: Paint,
): string {
  const [first = ""] = (description ?? "").trim().split("\n");
  const text = isLong ? (description ?? "").trim() : first.length > 100 ? `${first.slice(0, 99)}…` : first;
  const head = `  ${paint("cyan", toLine(name))}${more ? ` ${toLine(more)}` : ""}`;
  return text ? `${head}\n    ${toHarmless(text).replaceAll("\n", "\n    ")}` : head;
}
