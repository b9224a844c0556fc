// Prompts: the list, the capability, arguments, visibility and list changes.
import { createServer, jsonSchema, revisions, type Server, type ServerOptions } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { knowsClient, type Obj, openPeer, type Peer } from "./peer.ts";

const create = (options: Partial<ServerOptions<undefined>> = {}): Server =>
  createServer({ name: "prompts", version: "1.0.0", onError: () => {}, ...options });

const say = (): string => "Hello";
const listChanged = "notifications/prompts/list_changed";

const capabilitiesOf = async (peer: Peer): Promise<Obj> =>
  (peer.isModern ? await peer.call("server/discover") : peer.opening).capabilities as Obj;

async function watchList(peer: Peer): Promise<void> {
  if (peer.isModern) peer.start("subscriptions/listen", { notifications: { promptsListChanged: true } }, "list");
  await peer.settle();
}

const namesOf = async (peer: Peer): Promise<unknown[]> =>
  ((await peer.call("prompts/list")).prompts as Obj[]).map(({ name }) => name);

describe.each(revisions)("in %s", (revision) => {
  test("a registered prompt brings the capability; without one the methods do not exist", async () => {
    covers(["prompt-capability", "prompt-respect-capabilities"], revision);
    const server = create();
    const bare = await openPeer(server, revision);
    expect(await capabilitiesOf(bare)).not.toHaveProperty("prompts");
    for (const method of ["prompts/list", "prompts/get"]) {
      const error = await bare.fail(method, { name: "p" });
      expect(error).toEqual({ code: -32601, message: `Method not found: "${method}"` });
    }
    server.prompt("p", {}, say);
    const peer = await openPeer(server, revision);
    expect((await capabilitiesOf(peer)).prompts).toEqual({ listChanged: true });
  });

  test("an emptied server lists an empty array", async () => {
    covers(["prompt-list", "schema-list-results"], revision);
    const server = create();
    server.prompt("p", {}, say).remove();
    const peer = await openPeer(server, revision);
    expect((await peer.call("prompts/list")).prompts).toEqual([]);
  });

  test("prompts are listed with their arguments and the members of the revision", async () => {
    covers(["prompt-list", "schema-prompt", "schema-title-members", "schema-meta-members", "icon-shape"], revision);
    const server = create();
    const icons = [{ src: "data:image/png;base64,AQI=", sizes: ["any"] }];
    const fields = z.object({
      city: z.string().meta({ title: "City", description: "Where to" }),
      days: z.string().optional(),
      units: z.enum(["metric", "imperial"]).default("metric"),
    });
    const meta = { "com.example/rank": 1 };
    server.prompt("full", { title: "Full", description: "All of it", arguments: fields, icons, meta }, say);
    server.prompt("plain", {}, say);
    const peer = await openPeer(server, revision);
    const since6 = revision >= "2025-06-18";
    expect((await peer.call("prompts/list")).prompts).toEqual([
      {
        name: "full",
        description: "All of it",
        arguments: [
          { name: "city", description: "Where to", required: true, ...(since6 && { title: "City" }) },
          { name: "days" },
          { name: "units" },
        ],
        ...(since6 && { title: "Full", _meta: meta }),
        ...(revision >= "2025-11-25" && { icons }),
      },
      { name: "plain" },
    ]);
  });

  test("arguments reach the handler checked, with the schema's defaults", async () => {
    covers("prompt-get", revision);
    const server = create();
    const handler = vi.fn(({ city, days }: { city: string; days: number }) => `${days} days in ${city}`);
    const fields = z.object({ city: z.string(), days: z.coerce.number().int().max(7).default(3) });
    server.prompt("trip", { description: "A trip", arguments: fields }, handler);
    const peer = await openPeer(server, revision);
    const get = (args: Obj) => peer.call("prompts/get", { name: "trip", arguments: args });
    expect(await get({ city: "Oslo", days: "5" })).toMatchObject({
      description: "A trip",
      messages: [{ role: "user", content: { type: "text", text: "5 days in Oslo" } }],
    });
    expect((await get({ city: "Rome" })).messages).toEqual([
      { role: "user", content: { type: "text", text: "3 days in Rome" } },
    ]);
    expect(handler).toHaveBeenCalledTimes(2);
  });

  test("arguments are data: nothing in them is evaluated or inserted again", async () => {
    covers("prompt-security-validation", revision);
    const server = create();
    const fields = z.object({ a: z.string(), b: z.string() });
    server.prompt("p", { arguments: fields }, ({ a, b }) => `${a}|${b}`);
    const peer = await openPeer(server, revision);
    const a = `{{b}} {b} $b \${b} $& $1 %s <script> \\"'\u2028`;
    const { messages } = await peer.call("prompts/get", { name: "p", arguments: { a, b: "{{a}}" } });
    expect(messages).toEqual([{ role: "user", content: { type: "text", text: `${a}|{{a}}` } }]);
  });

  test("unknown, disabled and removed prompts are invalid params", async () => {
    covers("prompt-unknown-name-code", revision);
    const server = create();
    const handle = server.prompt("p", {}, say);
    server.prompt("q", {}, say).remove();
    handle.disable();
    const peer = await openPeer(server, revision);
    for (const name of ["p", "q", "nope", "__proto__", "constructor", ""]) {
      const error = await peer.fail("prompts/get", { name });
      expect(error).toEqual({ code: -32602, message: `Unknown prompt: ${JSON.stringify(name)}` });
    }
    expect(await namesOf(peer)).toEqual([]);
    handle.enable();
    expect(await namesOf(peer)).toEqual(["p"]);
  });

  test("any name works, and the order of registration is kept", async () => {
    const server = create();
    const names = ["b", "10", "a", "2", "constructor", "__proto__", "with space", "ä"];
    for (const name of names) server.prompt(name, {}, () => `I am ${name}`);
    const peer = await openPeer(server, revision);
    expect(await namesOf(peer)).toEqual(names);
    for (const name of names)
      expect((await peer.call("prompts/get", { name })).messages).toMatchObject([
        { content: { text: `I am ${name}` } },
      ]);
  });

  test.each<[what: string, args: Obj | undefined]>([
    ["no arguments", undefined],
    ["others", { days: "1" }],
    ["an inherited name", { toString: "x" }],
  ])("a missing required argument is named, with %s given", async (_, args) => {
    covers(["prompt-missing-argument-code", "prompt-validate-arguments"], revision);
    const server = create();
    const handler = vi.fn(say);
    server.prompt("trip", { arguments: z.object({ city: z.string(), days: z.string().optional() }) }, handler);
    const peer = await openPeer(server, revision);
    const error = await peer.fail("prompts/get", { name: "trip", ...(args && { arguments: args }) });
    expect(error).toEqual({ code: -32602, message: 'Prompt "trip" needs the argument "city"' });
    expect(handler).not.toHaveBeenCalled();
  });

  test("a prompt may need an argument called like a member of every object", async () => {
    const server = create();
    const schema = jsonSchema({
      type: "object",
      properties: { constructor: { type: "string" } },
      required: ["constructor"],
    });
    server.prompt("p", { arguments: schema }, (args) => String((args as Obj).constructor));
    const peer = await openPeer(server, revision);
    expect((await peer.fail("prompts/get", { name: "p" })).message).toBe('Prompt "p" needs the argument "constructor"');
    const { messages } = await peer.call("prompts/get", { name: "p", arguments: { constructor: "me" } });
    expect(messages).toMatchObject([{ content: { text: "me" } }]);
  });

  test.each<[what: string, params: Obj, message: string]>([
    ["no name", {}, "params.name must be a string"],
    ["a name that is no string", { name: 5 }, "params.name must be a string"],
    ["a number as an argument", { name: "p", arguments: { a: 5 } }, "params.arguments.a must be a string"],
    ["an object as an argument", { name: "p", arguments: { a: {} } }, "params.arguments.a must be a string"],
    ["null as an argument", { name: "p", arguments: { a: null } }, "params.arguments.a must be a string"],
    ["a list of arguments", { name: "p", arguments: ["a"] }, "params.arguments must be an object"],
  ])("%s is invalid params, and no handler runs", async (_, params, problem) => {
    covers(["schema-get-prompt-request", "prompt-validate-arguments", "prompt-security-validation"], revision);
    const server = create();
    const handler = vi.fn(say);
    server.prompt("p", { arguments: z.object({ a: z.string().optional() }) }, handler);
    const peer = await openPeer(server, revision);
    const error = await peer.fail("prompts/get", params);
    expect(error).toEqual({ code: -32602, message: `Invalid params for prompts/get: ${problem}` });
    expect(handler).not.toHaveBeenCalled();
  });

  test("an argument that breaks the schema is invalid params", async () => {
    covers("prompt-validate-arguments", revision);
    const server = create();
    const handler = vi.fn(say);
    server.prompt("p", { arguments: z.object({ unit: z.enum(["C", "F"]) }) }, handler);
    const peer = await openPeer(server, revision);
    const error = await peer.fail("prompts/get", { name: "p", arguments: { unit: "K" } });
    expect(error.code).toBe(-32602);
    expect(error.message).toMatch(/^Invalid arguments for prompt "p": unit: /);
    expect(handler).not.toHaveBeenCalled();
  });

  test("whoever may not see a prompt finds it nowhere", async () => {
    covers(["prompt-list-by-authorization", "prompt-security-validation"], revision);
    const server = create();
    const handler = vi.fn(say);
    server.prompt("open", {}, say);
    server.prompt("secret", { visible: async (ctx) => ctx.auth?.scopes.includes("admin") }, handler);
    const admin = await openPeer(server, revision, { sender: { auth: { scopes: ["admin"] } } });
    const guest = await openPeer(server, revision, { sender: { auth: { scopes: ["user"] } } });
    expect(await namesOf(admin)).toEqual(["open", "secret"]);
    expect(await namesOf(guest)).toEqual(["open"]);
    const error = await guest.fail("prompts/get", { name: "secret" });
    expect(error).toEqual({ code: -32602, message: 'Unknown prompt: "secret"' });
    expect(handler).not.toHaveBeenCalled();
    await admin.call("prompts/get", { name: "secret" });
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("two connections see the same list, whatever else they did", async () => {
    covers("prompt-list-not-per-connection", revision);
    const server = create();
    server.prompt("p", {}, say);
    server.prompt("q", {}, say);
    const [first, second] = [await openPeer(server, revision), await openPeer(server, revision)];
    await first.call("prompts/get", { name: "q" });
    expect(await namesOf(first)).toEqual(["p", "q"]);
    expect(await namesOf(second)).toEqual(["p", "q"]);
  });

  test.runIf(knowsClient(revision))("list changes are told once per burst", async () => {
    covers(["prompt-list-changed", "prompt-list-changed-2026"], revision);
    const server = create();
    const first = server.prompt("p", {}, say);
    const peer = await openPeer(server, revision);
    const deaf = await openPeer(server, revision);
    await watchList(peer);
    for (let i = 0; i < 20; i++) server.prompt(`p${i}`, {}, say);
    await peer.settle();
    expect(peer.notifications(listChanged)).toHaveLength(1);
    first.remove();
    await peer.settle();
    expect(peer.notifications(listChanged)).toHaveLength(2);
    expect(deaf.notifications(listChanged)).toHaveLength(deaf.isModern ? 0 : 2);
  });

  test("list changes are not told by a server that does not declare them", async () => {
    covers(["prompt-list-changed", "prompt-list-changed-2026"], revision);
    const server = create({ capabilities: { prompts: {} } });
    server.prompt("p", {}, say);
    const peer = await openPeer(server, revision);
    await watchList(peer);
    server.prompt("q", {}, say);
    await peer.settle();
    expect(peer.notifications(listChanged)).toEqual([]);
  });
});

test.each<[what: string, register: (server: Server) => unknown, message: string]>([
  ["no name", (server) => server.prompt("", {}, say), "a prompt needs a name"],
  ["a name that is no string", (server) => server.prompt(5 as never, {}, say), "a prompt needs a name"],
  ["no handler", (server) => server.prompt("p", {}, undefined as never), 'prompt "p" needs a handler function'],
  [
    "a completer for another argument",
    (server) => server.prompt("p", { arguments: z.object({ a: z.string() }), complete: { b: () => [] } }, say),
    'prompt "p": "complete" names "b", which is none of its arguments (a)',
  ],
  [
    "a completer without arguments",
    (server) => server.prompt("p", { complete: { b: () => [] } }, say),
    'prompt "p": "complete" names "b", which is none of its arguments (it has none)',
  ],
  [
    "arguments that are no object",
    (server) => server.prompt("p", { arguments: z.string() }, say),
    'prompt "p": input must describe an object: "type": "object".',
  ],
  [
    "an argument that cannot be expressed",
    (server) => server.prompt("p", { arguments: z.object({ when: z.date() }) }, say),
    'prompt "p": input field "when" cannot be expressed as JSON Schema; use a type that JSON has. Date cannot be represented in JSON Schema',
  ],
  [
    "an icon without src",
    (server) => server.prompt("p", { icons: [{} as never] }, say),
    'prompt "p": icons[0].src must be an absolute URI',
  ],
])("%s is refused at registration", (_, register, message) => {
  covers("schema-prompt");
  expect(() => register(create())).toThrow(new TypeError(message));
});

test("a name is registered once", () => {
  covers("prompt-name-unique");
  const server = create();
  server.prompt("p", {}, say);
  expect(() => server.prompt("p", {}, say)).toThrow(new TypeError('prompt "p" is registered already; remove it first'));
});
