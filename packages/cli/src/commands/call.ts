// `plenum call`: a tool, with arguments by its schema.
import type { Client, JsonObject, Tool, ToolResult } from "plenum";
import { argumentForms, toArguments } from "../arguments.ts";
import { toAskHint } from "../ask/given.ts";
import { defineCommand } from "../command.ts";
import { forceOption, formatContent, saveContent } from "../content.ts";
import { exitCodes, Failure } from "../failure.ts";
import { createLogLines, logLevels } from "../log-lines.ts";
import { type Output, toHarmless } from "../output.ts";
import { createProgress } from "../progress.ts";
import { askDescription, sessionOptions, withSession } from "../session.ts";
import { toUnknownTool } from "../unknown-tool.ts";

export const command = defineCommand({
  name: "call",
  summary: "Call a tool",
  description: [
    "Calls a tool and prints what it returns: text as it is, images, audio and files as one line each unless --output says where to put them. The exit code is 5 when the tool reports an error.",
    argumentForms,
    "Progress is shown on a terminal, log messages with --log. Ctrl-C cancels the call, and the server is told.",
    ...askDescription,
  ],
  arguments: [
    { name: "TARGET", summary: "the server" },
    { name: "TOOL", summary: "the name of the tool; plenum list shows them" },
    { name: "KEY=VALUE", summary: "the arguments", isMany: true },
  ],
  options: {
    ...sessionOptions,
    output: {
      kind: "text",
      short: "o",
      value: "PATH",
      summary: "Write the content there: a file, or a folder for several",
    },
    force: forceOption,
    log: { kind: "text", value: "LEVEL", choices: logLevels, summary: "Show log messages from this level on" },
  },
  examples: [
    { command: "plenum call server.ts add a=1 b=2", summary: "A tool of the server in a file" },
    { command: "plenum call https://example.com/mcp search query=fjord limit=5", summary: "One at a URL" },
    {
      command: "plenum call read_file path=notes.txt -- npx -y @modelcontextprotocol/server-filesystem .",
      summary: "One that a command starts",
    },
    {
      command: 'plenum call server.ts forecast \'{"city": "Oslo"}\' --json',
      summary: "Exact arguments, and the result as JSON",
    },
  ],
  async run(invocation) {
    const { output, signal, many, options, arguments: named } = invocation;
    const name = named.TOOL as string;
    return withSession(
      invocation,
      async ({ client }) => {
        const tool = await findTool(client, name, many);
        const args = await toArguments(many, (tool.known?.inputSchema ?? {}) as JsonObject);
        const progress = createProgress(output);
        const result = await client
          .callTool(name, args, { signal, onProgress: progress.update })
          .catch((error) => Promise.reject(tool.explain(error)))
          .finally(progress.end);
        if (result.isError && tool.isMissing && !output.canAsk) output.note(missingHint);
        return show(result, invocation);
      },
      options.log === undefined ? {} : createLogLines(output, options.log),
    );
  },
});

function show(
  result: ToolResult,
  {
    output,
    options,
  }: { readonly output: Output; readonly options: { readonly output: string | undefined; readonly force: boolean } },
): number | undefined {
  const { content, structured, isError, meta } = result;
  const value = {
    content,
    ...(structured !== undefined && { structuredContent: structured }),
    ...(isError && { isError }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
  const shown =
    content.length > 0 ? formatContent(content) : structured === undefined ? "" : JSON.stringify(structured, null, 2);
  if (isError) {
    output.badResult(value, shown, {
      code: "tool_error",
      exitCode: exitCodes.tool,
      message: toHarmless(result.text) || "The tool reported an error",
    });
    // In older revisions a tool says itself that it could not ask.
    const hint = toAskHint(result.text);
    if (hint) output.note(hint);
    return exitCodes.tool;
  }
  if (options.output === undefined) output.result(value, shown);
  else {
    const saved = saveContent(content, options.output, options.force);
    output.result({ ...value, saved }, saved.join("\n"));
  }
  return undefined;
}

const missingHint =
  "The server does not list that tool. Some list tools that ask something only to clients that can answer: try a terminal, --yes or --answer.";

interface FoundTool {
  readonly known: Tool | undefined;
  /** The server was asked, and does not list it. */
  readonly isMissing: boolean;
  explain(error: unknown): unknown;
}

/** What the tools are is asked only where it decides how a word is read: exact arguments need no schema. */
async function findTool(client: Client, name: string, words: readonly string[]): Promise<FoundTool> {
  if (!client.server.capabilities.tools) {
    const hint = "plenum list TARGET shows what it has.";
    throw new Failure("protocol", "The server has no tools", { code: "unknown_tool", hint });
  }
  if (words[0]?.startsWith("{") || words[0] === "-") {
    return { known: undefined, isMissing: false, explain: (error) => error };
  }
  const tools = await client.listTools().all();
  const known = tools.find((one) => one.name === name);
  return {
    known,
    isMissing: !known,
    explain(error) {
      if (known) return error;
      return toUnknownTool(
        name,
        tools.map((one) => one.name),
        error,
      );
    },
  };
}
