// What `connect` says about a target that it cannot reach.
import { describe, expect, test } from "vitest";
import { createServer } from "../server/server.ts";
import { connect } from "./connect.ts";

test("a URL is refused without its secrets", async () => {
  const failure = connect("https://bob:hunter2@host/mcp?token=abc");
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow('{ url: "https://host/mcp", headers: { authorization: … } }');
  await expect(failure).rejects.not.toThrow(/bob|hunter2|abc/);
});

test.each<[string, unknown, string]>([
  ["a URL of another kind", "ws://localhost:1", "only http and https"],
  ["a URL without its scheme", "localhost:3210/mcp", 'did you mean "http://localhost:3210/mcp"?'],
  ["an address with a port", "127.0.0.1:3210", 'did you mean "http://127.0.0.1:3210/"?'],
  ["an IPv6 address with a port", "[::1]:3210/mcp", 'did you mean "http://[::1]:3210/mcp"?'],
  ["a URL with one slash", "https:/example.com/mcp", 'did you mean "https://example.com/mcp"?'],
  ["a URL object of another kind", new URL("file:///etc/hosts"), "only http and https"],
  ["half of a URL", { url: "/mcp" }, "Write it whole"],
  ["a misspelt option of a URL", { url: "https://example.com", header: {} }, '"header"'],
  ["a promise", Promise.resolve({}), "await it first"],
  ["a factory", () => ({}), "call it first"],
  ["a list", ["node", "server.js"], "{ command, args }"],
  ["an object of another kind", { uri: "https://example.com" }, '"uri"'],
  ["nothing", undefined, "undefined"],
  ["a misspelt option of a command", { command: "node", arg: ["server.js"] }, '"arg"'],
  ["arguments that are no list", { command: "node", args: "server.js" }, "args must be a list"],
])("%s is refused with what to do", async (_, target, remedy) => {
  const failure = connect(target as never);
  await expect(failure).rejects.toThrow(TypeError);
  await expect(failure).rejects.toThrow(remedy);
});

describe("auth", () => {
  const auth = { authorize: async () => ({ authorization: "Bearer one" }), refused: async () => false };
  const seen: (string | null)[] = [];
  const fetch = async (_: string, init: RequestInit): Promise<Response> => {
    seen.push(new Headers(init.headers).get("authorization"));
    return new Response(null, { status: 500 });
  };

  test.each<[string, unknown, string]>([
    ["a server", createServer({ name: "one", version: "1.0.0" }), "auth is for a server at a URL"],
    ["a command line", "node server.js", "{ command, env }"],
    ["a command", { command: "node" }, "{ command, env }"],
    ["a target", { name: "x", key: "x", open: () => {} }, "auth is for a server at a URL"],
    ["a URL that has one", { url: "http://localhost:1/mcp", auth }, "auth is given twice"],
    ["nothing", undefined, "auth is for a server at a URL"],
  ])("beside %s is refused", async (_, target, problem) => {
    const failure = connect(target as never, { auth });
    await expect(failure).rejects.toThrow(TypeError);
    await expect(failure).rejects.toThrow(problem);
  });

  test("that is none is refused, and one that is not there is none", async () => {
    await expect(connect("http://localhost:1/mcp", { auth: {} as never })).rejects.toThrow("authorize and refused");
    await expect(connect("http://localhost:1/mcp", { auth: null as never })).rejects.toThrow("authorize and refused");
    const server = createServer({ name: "one", version: "1.0.0" });
    const client = await connect(server, { auth: undefined } as never);
    await client.close();
  });

  test("beside a URL goes with every request", async () => {
    const target = { url: "http://localhost:1/mcp", fetch };
    await expect(connect(target, { auth, timeoutMs: 1000 })).rejects.toMatchObject({ code: "peer_error" });
    await expect(connect({ ...target, auth })).rejects.toMatchObject({ code: "peer_error" });
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set(["Bearer one"]));
  });

  test("an option that is none is still one", async () => {
    await expect(connect("http://localhost:1/mcp", { auth, oauth: auth } as never)).rejects.toThrow('"oauth"');
    await expect(connect("http://localhost:1/mcp", [] as never)).rejects.toThrow("the options are no object");
  });
});

test("half of a URL is named without its secrets", async () => {
  const failure = connect("http:/bob:hunter2@localhost:1/mcp?token=abc");
  await expect(failure).rejects.toThrow('"http://localhost:1/mcp"');
  await expect(failure).rejects.not.toThrow(/bob|hunter2|abc/);
});

test.each(["plenum-no-such-program", "./plenum-no-such:1/program x", "plenum-no-such:tag"])(
  "%s is a command",
  async (line) => {
    await expect(connect(line)).rejects.toMatchObject({ code: "connection_lost" });
  },
);

test("who gives one object, as other clients take it, is told the form", async () => {
  const server = createServer({ name: "one", version: "1.0.0" });
  server.tool("tell", {}, () => "told");
  const client = await connect(server);
  const call = client.callTool({ name: "tell", arguments: {} } as never);
  await expect(call).rejects.toThrow(
    new TypeError("The arguments are callTool(name, args, options): the first is a string, not an object"),
  );
  await expect(client.readResource({ uri: "a://b" } as never)).rejects.toThrow("readResource(uri, options)");
  await expect(client.getPrompt({ name: "greet" } as never)).rejects.toThrow("getPrompt(name, args, options)");
  await client.close();
});
