// A model of one connection on which both eras are spoken at once: what a client does, step by step, and all that the
// server says to each step.
import fc from "fast-check";
import { type Revision, revisions } from "plenum";
import { good, handshake, methodsIn, modern, type Obj, prefix, request } from "./target.ts";

export type Step =
  | { readonly do: "initialize"; readonly version: string; readonly id: string | number }
  | { readonly do: "initialized" }
  | { readonly do: "call"; readonly method: string; readonly modern: boolean; readonly id: string | number }
  | { readonly do: "listen"; readonly id: string | number; readonly list: boolean; readonly uris: readonly string[] }
  | { readonly do: "cancel"; readonly id: string | number }
  | { readonly do: "watch" | "unwatch"; readonly uri: string }
  | { readonly do: "batch"; readonly ids: readonly string[] }
  | { readonly do: "garbage"; readonly text: string }
  /** On the server's side. */
  | { readonly do: "update"; readonly uri: string }
  | { readonly do: "change" };

// Few ids, and the three that are easily taken for one another: they will collide.
const id = fc.constantFrom<string | number>("", "0", 0, 1, "1", "a", "b");
const uri = fc.constantFrom("note:///one", "note:///two", "item:///a");
const everyMethod = [...new Set([...methodsIn("2025-11-25"), ...methodsIn(modern), "no/such"])].filter(
  (method) => !["initialize", "subscriptions/listen", "resources/subscribe", "resources/unsubscribe"].includes(method),
);

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: step("initialize", { version: fc.constantFrom(...revisions, "1999-01-01"), id }) },
    { weight: 2, arbitrary: step("initialized", {}) },
    { weight: 6, arbitrary: step("call", { method: fc.constantFrom(...everyMethod), modern: fc.boolean(), id }) },
    { weight: 3, arbitrary: step("listen", { id, list: fc.boolean(), uris: fc.uniqueArray(uri) }) },
    { weight: 2, arbitrary: step("cancel", { id }) },
    { weight: 2, arbitrary: step("watch", { uri }) },
    { weight: 1, arbitrary: step("unwatch", { uri }) },
    { weight: 1, arbitrary: step("batch", { ids: fc.uniqueArray(fc.constantFrom("p", "q", "r"), { minLength: 1 }) }) },
    { weight: 1, arbitrary: step("garbage", { text: fc.constantFrom("", "{", "[]", "1", '{"jsonrpc":"2.0"}') }) },
    { weight: 3, arbitrary: step("update", { uri }) },
    { weight: 2, arbitrary: step("change", {}) },
  ),
  { minLength: 1, maxLength: 40 },
);

function step(what: string, members: { readonly [key: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<Step> {
  return fc.record({ do: fc.constant(what), ...members }) as fc.Arbitrary<Step>;
}

/** What the server is to say: an error, a result, an array of those, or a notification as it stands. */
export type Said =
  | { readonly id?: unknown; readonly code: number }
  | { readonly result: unknown }
  | { readonly told: Obj }
  | readonly Said[];

interface Listen {
  readonly id: string | number;
  readonly list: boolean;
  readonly uris: readonly string[];
}

const told = (method: string, params?: Obj): Said => ({ told: { jsonrpc: "2.0", method, ...(params && { params }) } });
const tag = (id: unknown): Obj => ({ _meta: { [`${prefix}subscriptionId`]: id } });

export class Model {
  #session: { readonly revision: Revision; ready: boolean; readonly watched: Set<string> } | undefined;
  #listens: Listen[] = [];

  /** The message of a step, if it has one, and what the server says to the step. */
  take(step: Step): { readonly send?: unknown; readonly says: readonly Said[] } {
    switch (step.do) {
      case "initialize":
        return { send: handshake(step.version as Revision, step.id), says: [this.#initialize(step)] };
      case "initialized":
        if (this.#session) this.#session.ready = true;
        return { send: { jsonrpc: "2.0", method: "notifications/initialized" }, says: [] };
      case "call":
        return {
          send: request(step.modern ? modern : "2025-11-25", step.method, good[step.method], step.id),
          says: [this.#call(step)],
        };
      case "listen":
        return this.#listen(step);
      case "cancel":
        this.#listens = this.#listens.filter((listen) => listen.id !== step.id);
        return {
          send: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: step.id } },
          says: [],
        };
      case "watch":
      case "unwatch":
        return this.#watch(step);
      case "batch":
        return this.#batch(step.ids);
      case "garbage":
        return { send: step.text, says: [{ code: ["", "{"].includes(step.text) ? -32700 : -32600 }] };
      case "update":
        return { says: this.#update(step.uri) };
      case "change":
        return { says: this.#change() };
    }
  }

  #isOpen(id: unknown): boolean {
    return this.#listens.some((listen) => listen.id === id);
  }

  #initialize({ id, version }: { id: string | number; version: string }): Said {
    if (this.#isOpen(id) || this.#session) return { id, code: -32600 };
    const known = revisions.find((revision) => revision === version && revision !== modern);
    this.#session = { revision: known ?? "2025-11-25", ready: false, watched: new Set() };
    return { result: id };
  }

  #call({ id, method, modern: isModern }: { id: string | number; method: string; modern: boolean }): Said {
    if (this.#isOpen(id)) return { id, code: -32600 };
    const stateless = !methodsIn("2025-11-25").includes(method) && methodsIn(modern).includes(method);
    if (isModern) return methodsIn(modern).includes(method) ? { result: id } : { id, code: -32601 };
    if (stateless) return { id, code: -32602 };
    if (!this.#session) return method === "ping" ? { result: id } : { id, code: -32602 };
    return methodsIn(this.#session.revision).includes(method) ? { result: id } : { id, code: -32601 };
  }

  #listen({ id, list, uris }: Listen): { readonly send: unknown; readonly says: readonly Said[] } {
    const notifications = { resourcesListChanged: list, resourceSubscriptions: uris };
    const send = request(modern, "subscriptions/listen", { notifications }, id);
    if (this.#isOpen(id)) return { send, says: [{ id, code: -32600 }] };
    this.#listens.push({ id, list, uris });
    const honoured = { ...(list && { resourcesListChanged: true }), resourceSubscriptions: uris };
    return {
      send,
      says: [told("notifications/subscriptions/acknowledged", { ...tag(id), notifications: honoured })],
    };
  }

  #watch({ do: what, uri }: { do: "watch" | "unwatch"; uri: string }) {
    const method = what === "watch" ? "resources/subscribe" : "resources/unsubscribe";
    const send = { jsonrpc: "2.0", id: "watch", method, params: { uri } };
    if (!this.#session) return { send, says: [{ id: "watch", code: -32602 }] };
    if (what === "watch") this.#session.watched.add(uri);
    else this.#session.watched.delete(uri);
    return { send, says: [{ result: "watch" }] };
  }

  #batch(ids: readonly string[]): { readonly send: unknown; readonly says: readonly Said[] } {
    const send = ids.map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    if (this.#session?.revision !== "2025-03-26") return { send, says: [{ code: -32600 }] };
    return { send, says: [ids.map((id) => ({ result: id }))] };
  }

  #update(uri: string): readonly Said[] {
    const method = "notifications/resources/updated";
    const watches = this.#session?.ready && this.#session.watched.has(uri);
    const tagged = this.#listens
      .filter(({ uris }) => uris.includes(uri))
      .map(({ id }) => told(method, { ...tag(id), uri }));
    return watches ? [told(method, { uri }), ...tagged] : tagged;
  }

  #change(): readonly Said[] {
    const method = "notifications/resources/list_changed";
    const tagged = this.#listens.filter(({ list }) => list).map(({ id }) => told(method, tag(id)));
    return this.#session?.ready ? [told(method), ...tagged] : tagged;
  }
}
