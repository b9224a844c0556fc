// What tells whether a reload has changed a list: a digest of all of its pages, as a client would be told them.
import { createHash } from "node:crypto";
import type { Call, Endpoint, Link } from "plenum";
import { type Digests, type ListKind, listKinds } from "./messages.ts";

const methodsOf: { readonly [K in ListKind]: readonly (readonly [method: string, member: string])[] } = {
  tools: [["tools/list", "tools"]],
  resources: [
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
  ],
  prompts: [["prompts/list", "prompts"]],
};

/** Pages of one list before it is taken to be endless. */
const maxPages = 1000;

export async function digestLists(server: Endpoint): Promise<Digests> {
  const { capabilities } = server.describe();
  const digests = listKinds.map(
    async (kind) => [kind, capabilities[kind] ? await digestOf(server, kind) : ""] as const,
  );
  return Object.fromEntries(await Promise.all(digests));
}

async function digestOf(server: Endpoint, kind: ListKind): Promise<string | undefined> {
  try {
    const items: unknown[] = [];
    for (const [method, member] of methodsOf[kind]) {
      let cursor: unknown;
      for (let page = 0; page === 0 || cursor !== undefined; page++) {
        if (page === maxPages) return undefined;
        const result = await server.call(toCall(method, cursor));
        items.push(...((result[member] ?? []) as unknown[]));
        cursor = result.nextCursor;
      }
    }
    return items.length === 0 ? "" : createHash("sha256").update(JSON.stringify(items)).digest("base64");
  } catch {
    // A server that cannot list now is one of whose lists nothing is known.
    return undefined;
  }
}

/** What nobody in particular asks. */
function toCall(method: string, cursor: unknown): Call {
  return {
    method,
    params: cursor === undefined ? {} : { cursor },
    meta: {},
    id: "plenum-dev",
    client: { info: { name: "plenum-dev", version: "0.0.0" }, capabilities: {}, revision: "2026-07-28" },
    auth: undefined,
    sender: undefined,
    link,
  };
}

const refuse = async (): Promise<never> => {
  throw new Error("There is nobody to ask");
};

const link: Link = {
  signal: new AbortController().signal,
  ended: false,
  notify() {},
  beforeEnd() {},
  wantsLog: () => false,
  ask: refuse,
  step: refuse,
  assertOutsideStep() {},
};
