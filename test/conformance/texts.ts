// Compares what the everything server says with what the suite's fixture contract wants said, word by word: the suite itself
// looks at hardly any of the texts. Over HTTP by hand, in the oldest revision that has it all and in the newest.
import type { JsonObject } from "plenum";
import { type Case, expectEqual, ownOf } from "./cases.ts";
import { type Answers, startEverything } from "./everything.ts";
import { png, wav } from "./fixture/media.ts";
import { roundCases } from "./rounds.ts";
import type { Table } from "./table.ts";
import { type Message, openSession, openStateless } from "./wire.ts";

const text = (text: string): JsonObject => ({ type: "text", text });
const image = { type: "image", data: png, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, text: string): JsonObject => ({
  type: "resource",
  resource: { uri, mimeType, text },
});
const user = (content: JsonObject): JsonObject => ({ role: "user", content });

/** One request, and the result that it must have. */
function says(name: string, method: string, params: JsonObject, wanted: JsonObject, headers = {}): Case {
  return {
    name,
    async check(wire) {
      return expectEqual("the result", ownOf(await wire.request(method, params, headers)), wanted);
    },
  };
}

const tool = (name: string, args: JsonObject, wanted: JsonObject, headers = {}): Case =>
  says(name, "tools/call", { name, arguments: args }, wanted, headers);

const cases: readonly Case[] = [
  tool("test_simple_text", {}, { content: [text("This is a simple text response for testing.")] }),
  tool("test_image_content", {}, { content: [image] }),
  tool("test_audio_content", {}, { content: [{ type: "audio", data: wav, mimeType: "audio/wav" }] }),
  tool(
    "test_embedded_resource",
    {},
    {
      content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
    },
  ),
  tool(
    "test_multiple_content_types",
    {},
    {
      content: [
        text("Multiple content types test:"),
        image,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
      ],
    },
  ),
  tool(
    "test_error_handling",
    {},
    {
      content: [text("This tool intentionally returns an error for testing")],
      isError: true,
    },
  ),
  tool(
    "test_x_mcp_header",
    { region: "us-west1" },
    { content: [text("The region is us-west1.")] },
    {
      "Mcp-Param-Region": "us-west1",
    },
  ),
  says(
    "test://static-text",
    "resources/read",
    { uri: "test://static-text" },
    {
      contents: [
        {
          uri: "test://static-text",
          mimeType: "text/plain",
          text: "This is the content of the static text resource.",
        },
      ],
    },
  ),
  says(
    "test://static-binary",
    "resources/read",
    { uri: "test://static-binary" },
    {
      contents: [{ uri: "test://static-binary", mimeType: "image/png", blob: png }],
    },
  ),
  says(
    "test://template/{id}/data",
    "resources/read",
    { uri: "test://template/123/data" },
    {
      contents: [
        {
          uri: "test://template/123/data",
          mimeType: "application/json",
          text: '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
        },
      ],
    },
  ),
  prompt("test_simple_prompt", {}, [user(text("This is a simple prompt for testing."))]),
  prompt("test_prompt_with_arguments", { arg1: "hello", arg2: "world" }, [
    user(text("Prompt with arguments: arg1='hello', arg2='world'")),
  ]),
  prompt("test_prompt_with_embedded_resource", { resourceUri: "test://example" }, [
    user(resource("test://example", "text/plain", "Embedded resource content for testing.")),
    user(text("Please process the embedded resource above.")),
  ]),
  prompt("test_prompt_with_image", {}, [user(image), user(text("Please analyze the image above."))]),
  {
    name: "test_tool_with_progress",
    async check(wire) {
      const params = { name: "test_tool_with_progress", arguments: {}, _meta: { progressToken: "p" } };
      const { before } = await wire.request("tools/call", params);
      const wanted = [0, 50, 100].map((progress) => ({ progressToken: "p", progress, total: 100 }));
      const untold = await wire.request("tools/call", { name: "test_tool_with_progress", arguments: {} });
      return [
        ...expectEqual("the progress", paramsOf(before, "notifications/progress"), wanted),
        ...expectEqual("the progress that nobody asked for", paramsOf(untold.before, "notifications/progress"), []),
      ];
    },
  },
  {
    name: "test_tool_with_logging",
    async check(wire) {
      const { before } = await wire.request("tools/call", { name: "test_tool_with_logging", arguments: {} });
      const texts = ["Tool execution started", "Tool processing data", "Tool execution completed"];
      const wanted = texts.map((data) => ({ level: "info", data }));
      return expectEqual("the log", paramsOf(before, "notifications/message"), wanted);
    },
  },
];

function prompt(name: string, args: JsonObject, messages: readonly JsonObject[]): Case {
  return {
    name,
    async check(wire) {
      const exchange = await wire.request("prompts/get", { name, arguments: args });
      return expectEqual("the messages", exchange.answer?.result?.messages, messages);
    },
  };
}

function paramsOf(messages: readonly Message[], method: string): unknown[] {
  return messages.filter((message) => message.method === method).map(({ params }) => params);
}

/** Asks that a session carries as requests: what was asked, and what is made of the answer. */
const asks: readonly Case[] = [
  asking("test_sampling", { prompt: "Say it" }, "LLM response: It is said.", {
    method: "sampling/createMessage",
    params: { messages: [user(text("Say it"))], maxTokens: 100 },
  }),
  asking(
    "test_elicitation",
    { message: "Who?" },
    'User response: action=accept, content={"username":"ada","email":"a@b.c"}',
  ),
  asking("test_elicitation_sep1034_defaults", {}, "Elicitation completed: action=accept, content={}"),
  asking("test_elicitation_sep1330_enums", {}, "Elicitation completed: action=accept, content={}"),
  {
    name: "resources/subscribe, resources/unsubscribe, logging/setLevel and ping",
    async check(wire) {
      const problems: string[] = [];
      for (const [method, params] of [
        ["resources/subscribe", { uri: "test://watched-resource" }],
        ["resources/unsubscribe", { uri: "test://watched-resource" }],
        ["logging/setLevel", { level: "info" }],
        ["ping", {}],
      ] as const)
        problems.push(...expectEqual(method, ownOf(await wire.request(method, params)), {}));
      return problems;
    },
  },
];

function asking(name: string, args: JsonObject, said: string, wanted?: JsonObject): Case {
  return {
    name,
    async check(wire) {
      const exchange = await wire.request("tools/call", { name, arguments: args });
      const [asked] = exchange.before.filter(({ id, method }) => id !== undefined && method !== undefined);
      return [
        ...(asked ? [] : ["nothing was asked"]),
        ...(wanted ? expectEqual("the question", { method: asked?.method, params: asked?.params }, wanted) : []),
        ...expectEqual("the result", ownOf(exchange), { content: [text(said)] }),
      ];
    },
  };
}

/** What the peer answers to the server's questions. */
function respond({ method, params }: Message): JsonObject {
  if (method === "sampling/createMessage")
    return { role: "assistant", content: text("It is said."), model: "none", stopReason: "endTurn" };
  const asksForName = JSON.stringify(params).includes("username");
  return { action: "accept", content: asksForName ? { username: "ada", email: "a@b.c" } : {} };
}

export async function compareTexts(table: Table): Promise<void> {
  for (const answers of ["auto", "stream"] as const) await compareWith(table, answers);
}

async function compareWith(table: Table, answers: Answers): Promise<void> {
  const kind = answers === "auto" ? "JSON" : "SSE";
  const everything = await startEverything(answers);
  try {
    for (const revision of ["2025-11-25", "2026-07-28"]) {
      const isNew = revision === "2026-07-28";
      const wire = isNew ? openStateless(everything.url) : await openSession(everything.url, revision, respond);
      for (const { name, check } of [...cases, ...(isNew ? roundCases : asks)]) {
        const title = `text ${revision} ${kind} ${name}`;
        if (!table.wants(title)) continue;
        table.add(title, await check(wire).catch((error: unknown) => [String(error)]));
      }
      await wire.close();
    }
  } finally {
    const problems = await everything.end();
    if (problems.length > 0) table.add(`text ${kind}: the process ends well`, problems);
  }
}
