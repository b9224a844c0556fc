// What every server under test offers: the same tools, with schemas from its own copy of zod. What is built here is built once,
// when a program starts, which is the cheapest that each SDK allows.

/** How the driver starts a server: `server.mjs stdio`, or `server.mjs http <mode> <port>`. */
export const [transport = "stdio", mode = "", port = 0] = [process.argv[2], process.argv[3], Number(process.argv[4])];

export const toResult = (text) => ({ content: [{ type: "text", text }] });

let large = "";
/** Kept, so that only what the SDK does with it is measured. */
function textOf(bytes) {
  if (large.length !== bytes) large = "x".repeat(bytes);
  return large;
}

/** What the tools answer; `progress`, which each SDK reports in its own way, answers "done". */
export const answers = {
  echo: ({ text }) => text,
  add: ({ a, b }) => String(a + b),
  large: ({ bytes }) => textOf(bytes),
  length: ({ text }) => String(text.length),
};

/** How many tools more, named tool_0 and on. */
export const extraTools = Number(process.env.BENCH_TOOLS ?? 0);
export const extraName = (index) => `tool_${index}`;
export const extraDescription = (index) => `Generated tool number ${index}`;

/** The tools but `progress`: name, description, schema, and the text that it answers. */
export function toolsOf(z) {
  const schemas = {
    echo: z.object({ text: z.string() }),
    add: z.object({ a: z.number(), b: z.number() }),
    large: z.object({ bytes: z.number() }),
    length: z.object({ text: z.string() }),
  };
  const tools = Object.entries(answers).map(([name, answer]) => ({
    name,
    description: `The tool ${name}`,
    schema: schemas[name],
    answer,
  }));
  for (let i = 0; i < extraTools; i++) {
    const schema = z.object({
      id: z.string().describe(`identifier ${i}`),
      count: z.number().int().min(0).max(1000),
      enabled: z.boolean().optional(),
      tags: z.array(z.string()),
      mode: z.enum(["fast", "slow", "auto"]),
    });
    tools.push({ name: extraName(i), description: extraDescription(i), schema, answer: () => "ok" });
  }
  return tools;
}

/** The tool that reports its progress `count` times. */
export const progressOf = (z) => ({
  name: "progress",
  description: "The tool progress",
  schema: z.object({ count: z.number() }),
});

/**
 * Registers them on a server of the official SDK, 1.x or 2.x. `requestOf` gives, from what a handler gets, the `_meta` of its
 * request and how to send a notification.
 */
export function registerOfficial(server, tools, progress, requestOf) {
  for (const { name, description, schema, answer } of tools) {
    server.registerTool(name, { description, inputSchema: schema }, async (args) => toResult(answer(args)));
  }
  const config = { description: progress.description, inputSchema: progress.schema };
  server.registerTool(progress.name, config, async ({ count }, extra) => {
    const { _meta, notify } = requestOf(extra);
    for (let i = 1; i <= count; i++) {
      const params = { progressToken: _meta?.progressToken, progress: i, total: count };
      await notify({ method: "notifications/progress", params });
    }
    return toResult("done");
  });
}

/** Whether the server is to have the tool `ask`, which asks one question and answers with what the user did. */
export const asks = process.env.BENCH_ASK === "1";
export const askDescription = "The tool ask";
export const question = "Go on?";
export const questionOf = (z) => z.object({ confirm: z.boolean() });

/** Whether a session is to keep the events of its streams, as many as there are. */
export const keepsEvents = process.env.BENCH_EVENTS === "1";

/** Where transports of the official SDK keep them. */
export function createEventStore() {
  const events = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return String(events.length - 1);
    },
    getStreamIdForEventId: async (id) => events[Number(id)]?.stream,
    async replayEventsAfter(id, { send }) {
      const { stream } = events[Number(id)];
      for (let i = Number(id) + 1; i < events.length; i++)
        if (events[i].stream === stream) await send(String(i), events[i].message);
      return stream;
    },
  };
}
