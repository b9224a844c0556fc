// Results that are kept as long as the server allows, seen from the wire: what is asked for again, and when.
import { type Client, type ClientOptions, connect, type Revision } from "plenum";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import { errorOf, modern, sessioned } from "./harness.ts";
import {
  type Answer,
  createScript,
  loadClient,
  type Obj,
  opening,
  openScript,
  type Script,
  type Sent,
  settle,
} from "./script.ts";

// What is loaded on demand is loaded ahead: a clock that stands still does not wait for files.
beforeAll(loadClient);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
};
const second = 1000;

interface Stage {
  readonly script: Script;
  readonly client: Client;
  /** What was asked for so far, but for the opening and subscriptions: the method, and its cursor or URI. */
  asked(): string[];
  /** Tells of a change on the subscription. */
  tell(method: string, params?: Obj): Promise<void>;
}

type Hints = { readonly ttlMs?: unknown; readonly cacheScope?: unknown };

/** A server whose every answer is another one, and may be kept as `hints` say. */
async function stage(
  hints: Hints | ((message: Sent) => Hints),
  options: ClientOptions = {},
  special: (message: Sent) => Answer = () => undefined,
): Promise<Stage> {
  let count = 0;
  const script = createScript(
    modern,
    opening(modern, capabilities, (message, wire) => {
      const { id, method, params } = message;
      if (method === "subscriptions/listen") {
        wire.notify("notifications/subscriptions/acknowledged", {
          notifications: params?.notifications,
          _meta: { "io.modelcontextprotocol/subscriptionId": id },
        });
        return undefined;
      }
      if (id === undefined) return undefined;
      const given = special(message);
      if (given) return given;
      const name = `v${++count}`;
      const members: { [method: string]: Obj } = {
        "tools/list": { tools: [{ name, inputSchema: { type: "object" } }] },
        "resources/list": { resources: [{ name, uri: "file:///a" }] },
        "resources/templates/list": { resourceTemplates: [{ name, uriTemplate: "file:///{x}" }] },
        "prompts/list": { prompts: [{ name }] },
        "resources/read": { contents: [{ uri: params?.uri, text: name }] },
        "prompts/get": { messages: [{ role: "user", content: { type: "text", text: name } }] },
        "tools/call": { content: [{ type: "text", text: name }] },
        "completion/complete": { completion: { values: [name] } },
      };
      const all = typeof hints === "function" ? hints(message) : hints;
      return { result: { resultType: "complete", ...members[method as string], ...all } };
    }),
  );
  const client = await openScript(script, options);
  return {
    script,
    client,
    asked: () =>
      script.received.flatMap(({ id, method, params }) =>
        id === undefined || method === "server/discover" || method === "subscriptions/listen"
          ? []
          : [[method, params?.cursor ?? params?.uri].filter((one) => one !== undefined).join(" ")],
      ),
    async tell(method, params) {
      const subscription = script.of("subscriptions/listen").at(-1)?.id;
      script.wire.notify(method, { ...params, _meta: { "io.modelcontextprotocol/subscriptionId": subscription } });
      await settle();
    },
  };
}

const kept = (ttlMs: number): Hints => ({ ttlMs, cacheScope: "private" });
const names = async (list: Promise<{ readonly name: string }[]>): Promise<string[]> =>
  (await list).map(({ name }) => name);

/** Everything that may be kept, and what is told to come of it. */
const lists: [string, (client: Client) => Promise<string[]>][] = [
  ["tools/list", (client) => names(client.listTools().all())],
  ["resources/list", (client) => names(client.listResources().all())],
  ["resources/templates/list", (client) => names(client.listResourceTemplates().all())],
  ["prompts/list", (client) => names(client.listPrompts().all())],
  [
    "resources/read file:///a",
    async (client) =>
      (await client.readResource("file:///a")).contents.map((one) => String((one as { text?: unknown }).text)),
  ],
];

describe("while it is fresh", () => {
  test.each(lists)("%s is asked for once, and again when it is stale and wanted", async (what, get) => {
    covers(["cache-ttl-positive", "cache-refetch-stale"], modern);
    const { client, asked } = await stage(kept(10 * second));
    expect(await get(client)).toEqual(["v1"]);
    await vi.advanceTimersByTimeAsync(10 * second - 1);
    expect(await get(client)).toEqual(["v1"]);
    expect(asked()).toEqual([what]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await get(client)).toEqual(["v2"]);
    expect(await get(client)).toEqual(["v2"]);
    expect(asked()).toEqual([what, what]);
  });

  test.each(lists)("%s with ttlMs 0 is stale at once", async (what, get) => {
    covers("cache-ttl-zero", modern);
    const { client, asked } = await stage(kept(0));
    expect(await get(client)).toEqual(["v1"]);
    expect(await get(client)).toEqual(["v2"]);
    expect(asked()).toEqual([what, what]);
  });

  test.each(["public", "private"])("the scope %s makes no difference to one client", async (cacheScope) => {
    const { client } = await stage({ ttlMs: second, cacheScope });
    expect(await names(client.listTools().all())).toEqual(["v1"]);
    expect(await names(client.listTools().all())).toEqual(["v1"]);
  });

  test("what is kept cannot be changed by who got it", async () => {
    const { client } = await stage(kept(second));
    const [tool] = await client.listTools().all();
    expect(() => Object.assign(tool as object, { name: "other" })).toThrow(TypeError);
    expect(await names(client.listTools().all())).toEqual(["v1"]);
  });

  test("however long the server allows, a day is enough", async () => {
    const { client, asked } = await stage(kept(Number.MAX_SAFE_INTEGER));
    await client.listTools().all();
    await vi.advanceTimersByTimeAsync(24 * 3600 * second - 1);
    await client.listTools().all();
    expect(asked()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await client.listTools().all();
    expect(asked()).toHaveLength(2);
  });

  test("nothing is asked for that nobody wants, however stale", async () => {
    // There is no polling, so that there is nothing to spread or slow down.
    covers(["cache-no-polling", "cache-poll-jitter"], modern);
    const { client, script } = await stage(kept(second), { onListChanged: () => {}, onResourceUpdated: () => {} });
    for (const [, get] of lists) await get(client);
    await client.subscribe("file:///a");
    const before = script.received.length;
    await vi.advanceTimersByTimeAsync(100 * 3600 * second);
    expect(script.received).toHaveLength(before);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("requests side by side are each sent, and the one sent last is kept", async () => {
    const { client, asked } = await stage(kept(second));
    await Promise.all([client.listTools().all(), client.listTools().all()]);
    expect(asked()).toHaveLength(2);
    expect(await names(client.listTools().all())).toEqual(["v2"]);
  });
});

describe("what is not kept", () => {
  test("errors", async () => {
    let fails = true;
    const { client, asked } = await stage(kept(10 * second), {}, ({ method }) =>
      fails && method === "tools/list" ? { error: { code: 5, message: "not now" } } : undefined,
    );
    await errorOf(client.listTools().all());
    fails = false;
    expect(await names(client.listTools().all())).toEqual(["v1"]);
    expect(asked()).toHaveLength(2);
  });

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ["tools/call", (client) => client.callTool("t")],
    ["prompts/get", (client) => client.getPrompt("p")],
    ["completion/complete", (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })],
  ])("%s, whatever its result says", async (what, get) => {
    const { client, asked } = await stage(kept(10 * second));
    await get(client);
    await get(client);
    expect(asked()).toEqual([what, what]);
  });

  test.each(sessioned)("anything in %s", async (revision: Revision) => {
    let count = 0;
    const script = createScript(
      revision,
      opening(revision, capabilities, ({ method }) => {
        count++;
        // A member that nobody knows in this revision.
        if (method === "tools/list") return { result: { tools: [], ttlMs: 1_000_000, cacheScope: "public" } };
        return method === "resources/read" ? { result: { contents: [], ttlMs: 1_000_000 } } : undefined;
      }),
    );
    const client = await openScript(script, { revision });
    count = 0;
    for (let i = 0; i < 3; i++) {
      await client.listTools().all();
      await client.readResource("file:///a");
    }
    expect(count).toBe(6);
  });

  test("anything with cache: false", async () => {
    const { client, asked } = await stage(kept(10 * second), { cache: false });
    for (const [, get] of lists) await get(client);
    for (const [, get] of lists) await get(client);
    expect(asked()).toHaveLength(2 * lists.length);
  });

  test("for another client, of the same server", async () => {
    covers("cache-private-isolated", modern);
    const { client, script, asked } = await stage(kept(10 * second));
    const other = await connect(script.target);
    onTestFinished(() => other.close());
    expect(await names(client.listTools().all())).toEqual(["v1"]);
    expect(await names(other.listTools().all())).toEqual(["v2"]);
    expect(asked()).toHaveLength(2);
  });

  test("for another method, URI or page", async () => {
    covers("cache-key", modern);
    const { client, asked } = await stage(kept(10 * second), {}, ({ method, params }) =>
      method === "tools/list"
        ? {
            result: {
              resultType: "complete",
              tools: [],
              ...(params?.cursor ? {} : { nextCursor: "2" }),
              ...kept(10 * second),
            },
          }
        : undefined,
    );
    await client.readResource("file:///a");
    await client.readResource("file:///b");
    await client.readResource("file:///a?");
    await client.listResources().all();
    await client.listResourceTemplates().all();
    await client.listTools().all();
    const all = [
      "resources/read file:///a",
      "resources/read file:///b",
      "resources/read file:///a?",
      "resources/list",
      "resources/templates/list",
      "tools/list",
      "tools/list 2",
    ];
    expect(asked()).toEqual(all);
    await client.listTools().all();
    await client.readResource("file:///b");
    expect(asked()).toEqual(all);
  });
});

describe("fresh: true", () => {
  test.each(lists)("asks for %s in any case, and the answer is kept", async (what, get) => {
    covers("cache-snapshot-from-start", modern);
    const { client, asked } = await stage(kept(10 * second));
    await get(client);
    if (what.startsWith("resources/read")) await client.readResource("file:///a", { fresh: true });
    else if (what === "tools/list") await client.listTools({ fresh: true }).all();
    else if (what === "prompts/list") await client.listPrompts({ fresh: true }).all();
    else if (what === "resources/list") await client.listResources({ fresh: true }).all();
    else await client.listResourceTemplates({ fresh: true }).all();
    expect(await get(client)).toEqual(["v2"]);
    // From the beginning: without a cursor.
    expect(asked()).toEqual([what, what]);
  });
});

describe("changes", () => {
  test.each([
    ["tools", ["tools/list"]],
    ["prompts", ["prompts/list"]],
    ["resources", ["resources/list", "resources/templates/list"]],
  ])("of the list of %s drop it, and nothing else", async (kind, dropped) => {
    covers("cache-notification-invalidates", modern);
    const on = await stage(kept(100 * second), { onListChanged: () => {} });
    for (const [, get] of lists) await get(on.client);
    expect(on.asked()).toHaveLength(lists.length);
    await on.tell(`notifications/${kind}/list_changed`);
    // Told, not fetched.
    expect(on.asked()).toHaveLength(lists.length);
    for (const [, get] of lists) await get(on.client);
    expect(on.asked().slice(lists.length)).toEqual(dropped);
  });

  test("of a resource drop its reads, and those of what it is a part of", async () => {
    covers("cache-notification-invalidates", modern);
    const on = await stage(kept(100 * second), { onResourceUpdated: () => {} });
    const uris = ["file:///a", "file:///a/b", "file:///ab", "file:///c"];
    for (const uri of uris) await on.client.readResource(uri);
    await on.client.listResources().all();
    await on.client.subscribe("file:///a");
    const before = on.asked().length;
    await on.tell("notifications/resources/updated", { uri: "file:///a" });
    for (const uri of uris) await on.client.readResource(uri);
    await on.client.listResources().all();
    expect(on.asked().slice(before)).toEqual(["resources/read file:///a", "resources/read file:///a/b"]);
  });

  test("that come while the answer is under way make it too old to be kept", async () => {
    let wire: Script["wire"] | undefined;
    const on = await stage(kept(100 * second), { onListChanged: () => {} }, ({ method }) => {
      if (method === "tools/list")
        wire?.notify("notifications/tools/list_changed", {
          _meta: { "io.modelcontextprotocol/subscriptionId": on.script.of("subscriptions/listen")[0]?.id },
        });
      return undefined;
    });
    wire = on.script.wire;
    expect(await names(on.client.listTools().all())).toEqual(["v1"]);
    wire = undefined;
    expect(await names(on.client.listTools().all())).toEqual(["v2"]);
    expect(await names(on.client.listTools().all())).toEqual(["v2"]);
  });

  test("of a subscription that is not ours change nothing", async () => {
    const on = await stage(kept(100 * second), { onListChanged: () => {} });
    await on.client.listTools().all();
    for (const id of [undefined, 9999, String(on.script.of("subscriptions/listen")[0]?.id)])
      on.script.wire.notify("notifications/tools/list_changed", {
        _meta: { "io.modelcontextprotocol/subscriptionId": id },
      });
    await settle();
    await on.client.listTools().all();
    expect(on.asked()).toEqual(["tools/list"]);
  });
});

describe("pages", () => {
  /** Three pages; how long each may be kept is told by its number. */
  const paged =
    (ttls: readonly number[], refuse: () => boolean = () => false) =>
    ({ method, params }: Sent): Answer => {
      if (method !== "tools/list") return undefined;
      const at = Number(params?.cursor ?? 0);
      if (at > 0 && refuse()) return { error: { code: -32602, message: "Unknown cursor" } };
      const tools = [{ name: `page ${at}`, inputSchema: { type: "object" } }];
      const more = at < 2 ? { nextCursor: String(at + 1) } : {};
      return { result: { resultType: "complete", tools, ...more, ...kept(ttls[at] as number) } };
    };

  test("are kept each by itself, and one that is stale is asked for by its cursor", async () => {
    covers(["cache-page-independent", "cache-key"], modern);
    const { client, asked } = await stage({}, {}, paged([100 * second, 10 * second, 100 * second]));
    const all = ["page 0", "page 1", "page 2"];
    expect(await names(client.listTools().all())).toEqual(all);
    await vi.advanceTimersByTimeAsync(50 * second);
    expect(await names(client.listTools().all())).toEqual(all);
    expect(asked()).toEqual(["tools/list", "tools/list 1", "tools/list 2", "tools/list 1"]);
  });

  test("a cursor that is no longer valid makes it start anew, once, without those that were kept", async () => {
    covers("cache-invalid-cursor-reset", modern);
    let refuses = false;
    const { client, asked } = await stage(
      {},
      {},
      paged([100 * second, 10 * second, 10 * second], () => {
        const now = refuses;
        refuses = false;
        return now;
      }),
    );
    await client.listTools().all();
    await vi.advanceTimersByTimeAsync(50 * second);
    refuses = true;
    expect(await names(client.listTools().all())).toEqual(["page 0", "page 1", "page 2"]);
    expect(asked().slice(3)).toEqual(["tools/list 1", "tools/list", "tools/list 1", "tools/list 2"]);
  });

  test("one that is never valid is an error after that, and no endless loop", async () => {
    covers("cache-invalid-cursor-reset", modern);
    const { client, asked } = await stage(
      {},
      {},
      paged([100 * second, 0, 0], () => true),
    );
    const error = await errorOf(client.listTools().all());
    expect(error).toMatchObject({ code: "peer_error", rpcCode: -32602 });
    expect(asked()).toEqual(["tools/list", "tools/list 1", "tools/list", "tools/list 1"]);
    // And the next time nothing kept leads there again.
    await errorOf(client.listTools().all());
    expect(asked()[4]).toBe("tools/list");
  });
});
