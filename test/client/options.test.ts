// How a client is opened and closed: what it connects to, what it tells of itself, what it knows of the server.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Client, type ClientOptions, type ConnectTarget, connect, revisions } from "plenum";
import { memoryTarget } from "plenum/memory";
import { expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { createWorkshop } from "./fixtures/workshop.ts";
import { bundleProgram, each, errorOf, modern, open, sessioned } from "./harness.ts";
import { createInbox } from "./inbox.ts";

const program = (): Promise<string> => bundleProgram("test/client/fixtures/workshop.ts");

async function connectTo(target: ConnectTarget, options?: ClientOptions): Promise<Client> {
  const client = await connect(target, options);
  onTestFinished(() => client.close());
  return client;
}

test("a server in this process", async () => {
  const server = createWorkshop();
  const client = await connectTo(server);
  expect(client.revision).toBe(modern);
  expect((await client.callTool("echo", { text: "hello" })).text).toBe("hello");
  // It can be connected to any number of times, and outlives its clients.
  const other = await connectTo(server, { revision: "2024-11-05" });
  await client.close();
  expect((await other.callTool("echo", { text: "again" })).text).toBe("again");
  expect(JSON.parse((await other.callTool("seen")).text)).toEqual({ echo: 2 });
});

test("a command line", async () => {
  const quoted = [process.execPath, await program(), "{}"].map((word) => `"${word}"`).join("  ");
  const client = await connectTo(quoted);
  expect(client.revision).toBe(modern);
  expect((await client.callTool("echo", { text: "hello" })).text).toBe("hello");
});

test("a command with its arguments, environment and folder", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plenum-options-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const command = process.execPath;
  const args = [await program(), '{"pageSize":1}'];
  process.env.WORKSHOP_SIGN = "not for children";
  onTestFinished(() => {
    delete process.env.WORKSHOP_SIGN;
  });
  const place = async (client: Client): Promise<unknown> => JSON.parse((await client.callTool("place")).text);
  expect(await place(await connectTo({ command, args }))).toEqual({ cwd: process.cwd() });
  const env = { WORKSHOP_SIGN: "The blunt saw" };
  const client = await connectTo({ command, args, env, cwd: folder });
  expect(await place(client)).toEqual({ cwd: folder, sign: "The blunt saw" });
  expect(await place(await connectTo({ command, args, cwd: pathToFileURL(folder) }))).toEqual({ cwd: folder });
  for await (const page of client.listTools().pages()) {
    expect(page.items).toHaveLength(1);
    break;
  }
});

test("a target of one's own", async () => {
  const server = createWorkshop();
  const { open: openChannel } = memoryTarget(server);
  let opened = 0;
  const client = await connectTo({
    name: "my own",
    open() {
      opened++;
      return openChannel();
    },
  });
  expect((await client.callTool("echo", { text: "hello" })).text).toBe("hello");
  expect(opened).toBe(1);
  const broken = { name: "broken", open: () => Promise.reject(new Error("no such place")) };
  await expect(connect(broken)).rejects.toThrow("no such place");
});

test("what cannot be connected to", async () => {
  for (const target of [undefined, null, 5, {}, [], { command: 5 }, { uri: "https://example.com" }, () => {}]) {
    await expect(connect(target as unknown as ConnectTarget)).rejects.toThrow(TypeError);
    await expect(connect(target as unknown as ConnectTarget)).rejects.toThrow("connect takes a server");
  }
  for (const url of ["ws://localhost:1", "FTP://localhost", new URL("file:///etc/hosts")]) {
    await expect(connect(url)).rejects.toThrow(TypeError);
    await expect(connect(url)).rejects.toThrow("only http and https");
  }
  for (const line of ["", "  ", '"unfinished']) await expect(connect(line)).rejects.toThrow(TypeError);
  const missing = await errorOf(connect("plenum-no-such-command --flag"));
  expect(missing.code).toBe("connection_lost");
  expect(missing.message).toContain("plenum-no-such-command");
});

test("options that make no sense", async () => {
  const wrong: [unknown, string][] = [
    [{ onElicit: true }, "onElicit"],
    [{ onLog: {} }, "onLog"],
    [{ sampleTools: true }, "sampleTools"],
    [{ roots: "file:///a" }, "roots"],
    [{ roots: ["/a"] }, "roots[0]"],
    [{ logLevel: "loud" }, "logLevel"],
    [{ extensions: { tasks: {} } }, "tasks"],
    [{ asksPerMinute: 0 }, "asksPerMinute"],
    [{ pingIntervalMs: 1 }, "pingIntervalMs"],
  ];
  for (const [options, name] of wrong) {
    const server = createWorkshop();
    await expect(connect(server, options as ClientOptions), name).rejects.toThrow(TypeError);
    await expect(connect(server, options as ClientOptions)).rejects.toThrow(name);
  }
});

test.each(revisions)("a revision that is not to be had: only %s is", async (only) => {
  const target = memoryTarget(createWorkshop(), { revisions: [only] });
  for (const revision of revisions) {
    if (revision === only) expect((await connectTo(target, { revision })).revision).toBe(only);
    else {
      const error = await errorOf(connect(target, { revision }));
      expect(error.code).toBe("unsupported_version");
      expect(error.message).toContain(revision);
    }
  }
  expect((await connectTo(target)).revision).toBe(only);
});

test.each(each())("what the server says of itself in $revision over $transport", async ({ revision, transport }) => {
  covers(["lifecycle-subcapability-list-changed"], revision);
  const { client } = await open(revision, transport);
  expect(client.revision).toBe(revision);
  expect(client.state).toBe("open");
  expect(client.server.info).toEqual({ name: "workshop", version: "1.2.3" });
  expect(client.server.instructions).toBe("Mind the saw.");
  expect(client.server.capabilities).toEqual({
    logging: {},
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    tools: { listChanged: true },
    ...(revision > "2024-11-05" && { completions: {} }),
  });
});

test.each(each())("what the server is told in $revision over $transport", async ({ revision, transport }) => {
  covers(["meta-client-info", "schema-title-members", "lifecycle-client-sends-initialize"], revision);
  const info = {
    name: "bench",
    version: "3.2.1",
    title: "The bench",
    websiteUrl: "https://example.com/",
    icons: [{ src: "https://example.com/icon.png" }],
  };
  const { client } = await open(revision, transport, { info, roots: [] });
  const { info: told, capabilities } = JSON.parse((await client.callTool("who")).text);
  const { name, version, title } = info;
  if (revision < "2025-06-18") expect(told).toEqual({ name, version });
  else expect(told).toEqual(revision === "2025-06-18" ? { name, version, title } : info);
  expect(capabilities).toEqual({ roots: revision === modern ? {} : { listChanged: true } });

  const plain = await open(revision, transport);
  const who = JSON.parse((await plain.client.callTool("who")).text);
  expect(who.info).toEqual({ name: "plenum", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(who.capabilities).toEqual({});
});

test.each(each(sessioned))("the handshake of $revision over $transport", async ({ revision, transport }) => {
  covers(
    [
      "lifecycle-init-first",
      "lifecycle-client-sends-initialize",
      "lifecycle-initialized-notification",
      "lifecycle-init-not-batched",
      "schema-initialize-request",
      "version-client-offers-supported",
      "version-format",
      "rpc-support-core",
    ],
    revision,
  );
  const { client, traffic } = await open(revision, transport);
  await client.ping();
  const [initialize, initialized, ping, ...more] = traffic.sent();
  expect(initialize).toEqual({
    jsonrpc: "2.0",
    id: expect.anything(),
    method: "initialize",
    params: {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: "plenum", version: expect.any(String) },
    },
  });
  expect(initialized).toEqual({ jsonrpc: "2.0", method: "notifications/initialized" });
  expect(ping).toEqual({ jsonrpc: "2.0", id: expect.anything(), method: "ping" });
  expect(more).toEqual([]);
});

test.each(each())("is it there? in $revision over $transport", async ({ revision, transport }) => {
  covers(["ping-no-params", "rpc-removed-methods-2026"], revision);
  const { client, traffic } = await open(revision, transport);
  expect(await client.ping()).toBeUndefined();
  const last = traffic.sent().at(-1);
  expect(last?.method).toBe(revision === modern ? "server/discover" : "ping");
  if (revision !== modern) expect(last).not.toHaveProperty("params");
});

test.each(each())("requests and notifications by name in $revision over $transport", async (where) => {
  covers(["meta-reserved", "schema-open-members"], where.revision);
  const { client, traffic } = await open(where.revision, where.transport);
  // A method of the server's own.
  expect(await client.request("workshop/tidy", { room: "the shed" })).toMatchObject({ tidied: "the shed" });
  const withMeta = await client.request("workshop/tidy", { room: "it", _meta: { reason: "dust" } });
  expect(withMeta).toMatchObject({ tidied: "it", meta: "dust" });
  const withOption = await client.request("workshop/tidy", { room: "it" }, { meta: { reason: "mud" } });
  expect(withOption).toMatchObject({ tidied: "it", meta: "mud" });
  const unknown = await errorOf(client.request("workshop/burn"));
  expect(unknown).toMatchObject({ code: "peer_error", rpcCode: -32601 });

  // The protocol's, with its result checked and its params fitted.
  const { tools } = await client.request("tools/list");
  expect(tools).toHaveLength(4);
  const called = await client.request("tools/call", { name: "echo", arguments: { text: "by name" } });
  expect(called.content).toEqual([{ type: "text", text: "by name" }]);
  expect((await errorOf(client.request("tools/call", { name: 5 }))).code).toBe("invalid_params");
  expect((await errorOf(client.request("sampling/createMessage"))).code).toBe("method_not_found");

  client.notify("workshop/hello", { from: "the bench" });
  client.notify("workshop/bye");
  await client.ping();
  expect(traffic.sent("workshop/hello")).toEqual([
    { jsonrpc: "2.0", method: "workshop/hello", params: { from: "the bench" } },
  ]);
  expect(traffic.sent("workshop/bye")).toEqual([{ jsonrpc: "2.0", method: "workshop/bye" }]);
  expect(() => client.notify("notifications/tools/list_changed")).toThrow("notifications/tools/list_changed");
});

test.each(each())("closed once and for all in $revision over $transport", async ({ revision, transport }) => {
  covers(["lifecycle-shutdown-by-transport"], revision);
  const states = createInbox<string>();
  const causes: unknown[] = [];
  const { client, traffic } = await open(revision, transport, {
    onStateChange(state, cause) {
      states.put(state);
      causes.push(cause);
    },
  });
  await client.ping();
  const sent = traffic.sent().length;
  await Promise.all([client.close(), client.close()]);
  await client.close();
  expect(client.state).toBe("closed");
  expect(states.all).toEqual(["connecting", "open", "closed"]);
  expect(causes).toEqual([undefined, undefined, undefined]);
  const calls = [
    () => client.callTool("echo", { text: "hello" }),
    () => client.listTools().all(),
    () => client.readResource("note://one"),
    () => client.getPrompt("greet", { name: "Ada" }),
    () => client.complete({ type: "ref/prompt", name: "greet" }, { name: "name", value: "" }),
    () => client.subscribe("note://one"),
    () => client.setLogLevel("debug"),
    () => client.ping(),
    () => client.request("workshop/tidy"),
  ];
  for (const call of calls) expect((await errorOf(call())).code).toBe("connection_lost");
  client.notify("workshop/hello");
  // Nothing is said at the end, and nothing after it; what the server said of itself is still known.
  expect(traffic.sent()).toHaveLength(sent);
  expect(client.server.info?.name).toBe("workshop");
  expect(client.revision).toBe(revision);
});

test.each(each(["2025-11-25", modern]))(
  "what is under way when it closes is lost, in $revision over $transport",
  async (where) => {
    covers(["lifecycle-shutdown-by-transport"], where.revision);
    const { client, traffic } = await open(where.revision, where.transport);
    const updates = createInbox<unknown>();
    const slow = errorOf(client.callTool("slow", { steps: 100, everyMs: 10 }, { onProgress: updates.put }));
    const sleep = errorOf(client.callTool("slow", { steps: 100, everyMs: 10 }));
    await updates.first(1);
    const sent = traffic.sent().length;
    const closed = client.close();
    expect((await slow).code).toBe("connection_lost");
    expect((await sleep).code).toBe("connection_lost");
    await closed;
    expect(traffic.sent()).toHaveLength(sent);
  },
);

test.each(each())("closed at the end of its block in $revision over $transport", async ({ revision, transport }) => {
  let kept: Client;
  {
    await using client = (await open(revision, transport)).client;
    kept = client;
    expect((await client.callTool("echo", { text: "hello" })).text).toBe("hello");
  }
  expect(kept.state).toBe("closed");
  expect((await errorOf(kept.ping())).code).toBe("connection_lost");
});
