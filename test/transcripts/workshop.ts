// The server behind the transcripts on housekeeping: tools that report, log, wait, fail and ask, in pages of two.
import { createServer, McpError, type Server } from "plenum";
import { z } from "zod";

export interface Workshop {
  readonly server: Server;
  /** What can happen on the server's side, by the words that a transcript uses for it. */
  readonly events: { readonly [what: string]: () => void };
}

/** A tool by hand, for the revision in which a server asks by returning: it keeps nothing between the rounds. */
export function createReroute(): Workshop {
  const server = createServer({ name: "reroute", version: "1.0.0" });
  server.handle("tools/call", (params) => {
    const { parcel } = params.arguments as { parcel: string };
    const given = (params.inputResponses ?? {}) as { confirm?: { action: string }; dirs?: unknown };
    const requestState = `asked:${parcel}`;
    if (params.requestState !== undefined && params.requestState !== requestState)
      throw new McpError("invalid_params", "This requestState is not for these arguments");
    const form = { type: "object", properties: { ok: { type: "boolean", title: "Confirm" } }, required: ["ok"] };
    const inputRequests = {
      ...(given.confirm === undefined && {
        confirm: {
          method: "elicitation/create",
          params: { mode: "form", message: `Send ${parcel} to Oslo?`, requestedSchema: form },
        },
      }),
      ...(given.dirs === undefined && { dirs: { method: "roots/list" } }),
    };
    if (Object.keys(inputRequests).length > 0) return { resultType: "input_required", inputRequests, requestState };
    const text = given.confirm?.action === "accept" ? `${parcel} now goes to Oslo.` : `${parcel} stays.`;
    return { content: [{ type: "text", text }] };
  });
  return { server, events: {} };
}

export function createWorkshop(): Workshop {
  const server = createServer({ name: "workshop", version: "1.0.0", pageSize: 2, onError: () => {} });

  server.tool("count", { input: z.object({ to: z.number() }) }, ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) ctx.progress(step, to, `step ${step}`);
    return `Counted to ${to}.`;
  });

  server.tool("wait", {}, (_, ctx) => {
    ctx.progress(1);
    return new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  });

  server.tool("report", {}, (_, ctx) => {
    ctx.log.debug("saw the drill");
    ctx.log.info({ drills: 1 }, "inventory");
    ctx.log.warning("the saw is blunt");
    ctx.log.error("no hammer");
    return "Reported.";
  });

  server.tool("break", {}, () => {
    throw new Error("the password is hunter2");
  });

  server.tool("refuse", {}, () => {
    throw new McpError("application", "The shop is closed", { rpcCode: 7, data: { opens: "08:00" } });
  });

  server.tool("greet", {}, async (_, ctx) => {
    const answer = await ctx.elicit("Who is there?", z.object({ name: z.string() }));
    return answer.action === "accept" ? `Hello, ${answer.content.name}.` : `Nobody: ${answer.action}.`;
  });

  server.tool("pay", {}, async (_, ctx) => {
    const { action } = await ctx.elicitUrl("Pay for the drill.", "https://workshop.example/pay");
    return `Payment: ${action}.`;
  });

  server.tool("think", {}, async (_, ctx) => {
    const question = { role: "user", content: { type: "text", text: "Which drill?" } } as const;
    const { content, model } = await ctx.sample({ messages: [question], maxTokens: 50 });
    return `${model}: ${JSON.stringify(content)}`;
  });

  server.tool("look", {}, async (_, ctx) => (await ctx.roots()).map((root) => root.uri));

  const addTool = (name: string): void => {
    server.tool(name, {}, () => undefined);
  };
  return {
    server,
    events: {
      "a tool is added": () => addTool("saw"),
      "two more tools are added at once": () => {
        addTool("file");
        addTool("plane");
      },
      "the server closes": () => void server.close(),
    },
  };
}
