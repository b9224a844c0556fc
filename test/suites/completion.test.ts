// Completion: suggestions for the arguments of prompts and the variables of templates.
import { createServer, rateLimit, revisions, type Server, type ServerOptions } from "plenum";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { covers } from "../requirements/covers.ts";
import { type Obj, openPeer, type Peer } from "./peer.ts";

const say = (): string => "";
const template = "n:///{owner}/{id}";
const promptRef = { type: "ref/prompt", name: "p" };
const resourceRef = { type: "ref/resource", uri: template };

type Completer = (typed: string, ctx: { arguments: unknown; auth: unknown }) => unknown;

/** A server whose prompt and template are completed alike. */
function create(completer: Completer, options: Partial<ServerOptions<undefined>> = {}): Server {
  const server = createServer({ name: "typist", version: "1.0.0", onError: () => {}, ...options });
  const id = completer as () => string[];
  server.prompt("p", { arguments: z.object({ id: z.string(), owner: z.string() }), complete: { id } }, say);
  server.resource(template, { complete: { id } }, say);
  return server;
}

const ask = (ref: Obj, value = "", more: Obj = {}): Obj => ({ ref, argument: { name: "id", value }, ...more });

const range = (n: number): string[] => Array.from({ length: n }, (_, i) => `value ${n - i}`);

const capabilitiesOf = async (peer: Peer): Promise<Obj> =>
  (peer.isModern ? await peer.call("server/discover") : peer.opening).capabilities as Obj;

describe.each(revisions)("in %s", (revision) => {
  describe.each([
    ["a prompt", promptRef],
    ["a template", resourceRef],
  ])("of %s", (_, ref) => {
    const open = (completer: Completer, options?: Partial<ServerOptions<undefined>>): Promise<Peer> =>
      openPeer(create(completer, options), revision);
    const complete = async (completer: Completer, value?: string, more?: Obj): Promise<unknown> =>
      (await (await open(completer)).call("completion/complete", ask(ref, value, more))).completion;

    test("what was typed is completed, in the completer's order", async () => {
      covers(["completion-request", "completion-sorted", "schema-complete-result"], revision);
      const completer = (typed: string) => ["zebra", "apple", "zoo"].filter((word) => word.startsWith(typed));
      expect(await complete(completer, "z")).toEqual({ values: ["zebra", "zoo"], hasMore: false });
      expect(await complete(completer, "none")).toEqual({ values: [], hasMore: false });
      expect(await complete(async (typed) => [`${typed}!`], "ä")).toEqual({ values: ["ä!"], hasMore: false });
    });

    test.each<[what: string, found: unknown, completion: Obj]>([
      ["100 values", range(100), { values: range(100), hasMore: false }],
      ["101 values", range(101), { values: range(101).slice(0, 100), total: 101, hasMore: true }],
      ["250 values", range(250), { values: range(250).slice(0, 100), total: 250, hasMore: true }],
      ["a total", { values: ["a"], total: 1000, hasMore: true }, { values: ["a"], total: 1000, hasMore: true }],
      ["more to come", { values: ["a"], hasMore: true }, { values: ["a"], hasMore: true }],
      ["no more", { values: ["a"], total: 1 }, { values: ["a"], total: 1, hasMore: false }],
      [
        "too many of a total",
        { values: range(150), total: 9000 },
        { values: range(150).slice(0, 100), total: 9000, hasMore: true },
      ],
      [
        "a wrong no",
        { values: range(101), hasMore: false },
        { values: range(101).slice(0, 100), total: 101, hasMore: true },
      ],
    ])("at most 100 values are sent, and the rest is told: %s", async (_what, found, completion) => {
      covers(["completion-max-100", "completion-has-more", "schema-complete-result"], revision);
      expect(await complete(() => found)).toEqual(completion);
    });

    test.each<[what: string, found: unknown]>([
      ["values that are no strings", [1, 2]],
      ["nothing", undefined],
      ["an object of another kind", { items: [] }],
      ["half a total", { values: [], total: 0.5 }],
    ])("%s are refused", async (_what, found) => {
      covers(["schema-complete-result", "completion-code-internal"], revision);
      const peer = await open(() => found);
      expect((await peer.fail("completion/complete", ask(ref))).code).toBe(-32603);
    });

    test("a failing completer is an internal error that tells nothing", async () => {
      covers("completion-code-internal", revision);
      const onError = vi.fn();
      const error = new Error("password is hunter2");
      const peer = await open(() => Promise.reject(error), { onError });
      const { code, message, data } = await peer.fail("completion/complete", ask(ref));
      const { errorId } = data as { errorId: string };
      expect({ code, message }).toEqual({ code: -32603, message: `Internal error (${errorId})` });
      expect(onError).toHaveBeenCalledExactlyOnceWith(error, { method: "completion/complete", errorId });
    });

    test("the other arguments reach the completer where the revision has them", async () => {
      covers(["completion-context-server"], revision);
      const seen: unknown[] = [];
      const completer: Completer = (_typed, ctx) => {
        seen.push(ctx.arguments);
        return [];
      };
      const context = { arguments: { owner: "ada" } };
      await complete(completer, "", { context });
      await complete(completer, "", { context: {} });
      await complete(completer);
      expect(seen).toEqual([revision >= "2025-06-18" ? { owner: "ada" } : expect.anything(), {}, {}]);
    });

    test("the completer knows the caller", async () => {
      covers("completion-security-access", revision);
      const own: Record<string, string[]> = { ada: ["a1"], bob: ["b1"] };
      const server = create((_typed, { auth }) => own[(auth as { subject: string }).subject] ?? []);
      for (const subject of ["ada", "bob"]) {
        const peer = await openPeer(server, revision, { sender: { auth: { subject, scopes: [] } } });
        const { completion } = await peer.call("completion/complete", ask(ref));
        expect(completion).toEqual({ values: own[subject], hasMore: false });
      }
    });

    test("an argument without a completer has no suggestions, an unknown one is invalid params", async () => {
      covers("completion-code-invalid-name", revision);
      const peer = await open(() => ["x"]);
      const owner = await peer.call("completion/complete", { ref, argument: { name: "owner", value: "" } });
      expect(owner.completion).toEqual({ values: [], hasMore: false });
      for (const name of ["other", "", "__proto__", "constructor"]) {
        const error = await peer.fail("completion/complete", { ref, argument: { name, value: "" } });
        expect(error).toEqual({ code: -32602, message: `Unknown argument ${JSON.stringify(name)}` });
      }
    });
  });

  test.each<[what: string, ref: Obj, message: string]>([
    ["prompt", { type: "ref/prompt", name: "q" }, 'Unknown prompt "q"'],
    ["prompt that is everywhere", { type: "ref/prompt", name: "toString" }, 'Unknown prompt "toString"'],
    ["template", { type: "ref/resource", uri: "x:///{id}" }, 'Unknown resource template "x:///{id}"'],
    ["URI of a template", { type: "ref/resource", uri: "n:///a/b" }, 'Unknown resource template "n:///a/b"'],
  ])("an unknown %s is invalid params", async (_, ref, message) => {
    covers("completion-code-invalid-name", revision);
    const peer = await openPeer(
      create(() => []),
      revision,
    );
    expect(await peer.fail("completion/complete", ask(ref))).toEqual({ code: -32602, message });
  });

  test("whoever may not see a prompt or template gets no suggestions for it", async () => {
    covers(["completion-security-disclosure", "completion-security-access"], revision);
    const server = createServer({ name: "typist", version: "1.0.0" });
    const completer = vi.fn(() => ["secret"]);
    const visible = (ctx: { auth: { subject?: string } | undefined }): boolean => ctx.auth?.subject === "ada";
    server.prompt("p", { arguments: z.object({ id: z.string() }), complete: { id: completer }, visible }, say);
    server.resource("n:///{id}", { complete: { id: completer }, visible }, say);
    const refs: [Obj, string][] = [
      [promptRef, 'Unknown prompt "p"'],
      [{ type: "ref/resource", uri: "n:///{id}" }, 'Unknown resource template "n:///{id}"'],
    ];
    const bob = await openPeer(server, revision, { sender: { auth: { subject: "bob", scopes: [] } } });
    const ada = await openPeer(server, revision, { sender: { auth: { subject: "ada", scopes: [] } } });
    for (const [ref, message] of refs)
      expect(await bob.fail("completion/complete", ask(ref))).toEqual({ code: -32602, message });
    expect(completer).not.toHaveBeenCalled();
    for (const [ref] of refs)
      expect((await ada.call("completion/complete", ask(ref))).completion).toEqual({
        values: ["secret"],
        hasMore: false,
      });
  });

  const argument = { name: "id", value: "" };
  test.each<[what: string, params: Obj, problem: string]>([
    ["no ref", { argument }, "params.ref must be an object"],
    [
      "an unknown type of ref",
      { ref: { type: "ref/tool", name: "p" }, argument },
      'params.ref.type must be "ref/prompt" or "ref/resource"',
    ],
    [
      "a ref without a type",
      { ref: { name: "p" }, argument },
      'params.ref.type must be "ref/prompt" or "ref/resource"',
    ],
    ["a prompt without a name", { ref: { type: "ref/prompt" }, argument }, "params.ref.name must be a string"],
    ["a template without a URI", { ref: { type: "ref/resource" }, argument }, "params.ref.uri must be a URI template"],
    [
      "an unbalanced template",
      { ref: { type: "ref/resource", uri: "n:{" }, argument },
      "params.ref.uri must be a URI template",
    ],
    ["no argument", { ref: promptRef }, "params.argument must be an object"],
    [
      "an argument without a name",
      { ref: promptRef, argument: { value: "" } },
      "params.argument.name must be a string",
    ],
    [
      "an argument without a value",
      { ref: promptRef, argument: { name: "id" } },
      "params.argument.value must be a string",
    ],
    [
      "a value that is no string",
      { ref: promptRef, argument: { name: "id", value: 5 } },
      "params.argument.value must be a string",
    ],
  ])("%s is invalid params, and no completer runs", async (_, params, problem) => {
    covers(["schema-complete-request", "schema-completion-refs", "completion-security-validate"], revision);
    covers(["completion-code-missing-arguments"], revision);
    const completer = vi.fn(() => []);
    const peer = await openPeer(create(completer), revision);
    const error = await peer.fail("completion/complete", params);
    expect(error).toEqual({ code: -32602, message: `Invalid params for completion/complete: ${problem}` });
    expect(completer).not.toHaveBeenCalled();
  });

  test.each<[context: unknown, problem: string]>([
    ["ada", "params.context must be an object"],
    [{ arguments: ["ada"] }, "params.context.arguments must be an object"],
    [{ arguments: { owner: 5 } }, "params.context.arguments.owner must be a string"],
  ])("the context %j is invalid params where there is one", async (context, problem) => {
    covers(["completion-context-server", "completion-security-validate"], revision);
    const completer = vi.fn(() => []);
    const peer = await openPeer(create(completer), revision);
    const params = ask(promptRef, "", { context });
    if (revision < "2025-06-18") {
      await peer.call("completion/complete", params);
      return;
    }
    const error = await peer.fail("completion/complete", params);
    expect(error).toEqual({ code: -32602, message: `Invalid params for completion/complete: ${problem}` });
    expect(completer).not.toHaveBeenCalled();
  });

  test("a reference may have a title where the revision knows it", async () => {
    covers("schema-title-members", revision);
    const peer = await openPeer(
      create(() => ["x"]),
      revision,
    );
    const { completion } = await peer.call("completion/complete", ask({ ...promptRef, title: "P" }));
    expect(completion).toEqual({ values: ["x"], hasMore: false });
    if (revision >= "2025-06-18")
      expect((await peer.fail("completion/complete", ask({ ...promptRef, title: 5 }))).code).toBe(-32602);
  });

  test("the excess of a rate limit gets an error", async () => {
    covers("completion-security-rate-limit", revision);
    const completer = vi.fn(() => ["x"]);
    const server = create(completer);
    server.use(rateLimit({ perSecond: 0.001, burst: 2 }));
    const peer = await openPeer(server, revision);
    for (let i = 0; i < 2; i++) await peer.call("completion/complete", ask(promptRef));
    expect(await peer.fail("completion/complete", ask(promptRef))).toEqual({
      code: -32603,
      message: "Too many calls of completion/complete; try again later",
    });
    expect(completer).toHaveBeenCalledTimes(2);
    await peer.call("prompts/list");
  });

  test("a completer brings the capability, where there is one", async () => {
    covers(["completion-capability", "completion-no-capability", "completion-request"], revision);
    const peer = await openPeer(
      create(() => ["x"]),
      revision,
    );
    const capabilities = await capabilitiesOf(peer);
    if (revision === "2024-11-05") expect(capabilities).not.toHaveProperty("completions");
    else expect(capabilities.completions).toEqual({});
    const { completion } = await peer.call("completion/complete", ask(promptRef));
    expect(completion).toEqual({ values: ["x"], hasMore: false });
  });

  test("without completers there is no completion", async () => {
    covers(["completion-code-not-supported", "completion-capability"], revision);
    const server = createServer({ name: "typist", version: "1.0.0" });
    server.prompt("p", { arguments: z.object({ id: z.string() }) }, say);
    server.resource(template, {}, say);
    const peer = await openPeer(server, revision);
    expect(await capabilitiesOf(peer)).not.toHaveProperty("completions");
    expect(await peer.fail("completion/complete", ask(promptRef))).toEqual({
      code: -32601,
      message: 'Method not found: "completion/complete"',
    });
  });
});
