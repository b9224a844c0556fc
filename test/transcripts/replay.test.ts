// Replays the transcripts: everything that the server says is there, in this order and to the letter, and nothing else.
// The format is explained in README.md.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Revision, revisions, type Server } from "plenum";
import { createRawPeer } from "plenum/memory";
import { beforeAll, describe, expect, test } from "vitest";
import { createEchoServer } from "../../examples/echo.ts";
import { createNotesServer } from "../../examples/notes.ts";
import { judgeSent } from "../suites/judge.ts";
import { bindings, matches, withBound } from "./placeholder.ts";
import { createReroute, createWorkshop, type Workshop } from "./workshop.ts";

// What is loaded on demand is here already: what a transcript pins is the order of those who have it.
beforeAll(() =>
  Promise.all([
    import("../../packages/plenum/src/protocol/sessioned/wrap.ts"),
    import("../../packages/plenum/src/protocol/stateless/open.ts"),
    import("../../packages/plenum/src/server/pages.ts"),
    import("../../packages/plenum/src/server/structured.ts"),
  ]),
);

type Line =
  | { readonly note: string }
  | { readonly client: unknown }
  | { readonly server: unknown }
  | { readonly happens: string };

interface Transcript {
  readonly about: string;
  readonly serves: keyof typeof stages;
  /** What the server is allowed to speak. Default: everything. */
  readonly revisions?: readonly Revision[];
  readonly lines: readonly Line[];
}

const stages = {
  notes: () => toStage(createNotesServer()),
  echo: () => toStage(createEchoServer()),
  workshop: createWorkshop,
  reroute: createReroute,
};

function toStage(server: Server): Workshop {
  return { server, events: { "the server closes": () => void server.close() } };
}

function read(file: string): Transcript {
  const [head, ...lines] = readFileSync(file, "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text));
  return { ...head, lines };
}

describe.each(revisions)("transcripts of %s", (revision) => {
  const folder = join(import.meta.dirname, revision);
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

  test("there are enough to learn the revision from", () => {
    expect(files.length).toBeGreaterThanOrEqual(8);
  });

  test.each(files)("%s", async (name) => {
    const { serves, lines, revisions: spoken } = read(join(folder, name));
    const { server, events } = stages[serves]();
    const peer = createRawPeer(server, spoken ? { revisions: spoken } : {});
    const bound = bindings();
    const asked = new Map<unknown, { method: string; revision: Revision }>();
    let heard = 0;

    for (const [at, line] of lines.entries()) {
      const where = `${revision}/${name}, line ${at + 2}`;
      if ("note" in line) continue;
      if ("happens" in line) {
        expect(Object.keys(events), where).toContain(line.happens);
        events[line.happens]?.();
      } else if ("client" in line) {
        const message = withBound(line.client, bound);
        for (const one of [message].flat()) remember(one, revision, asked);
        peer.send(message);
      } else {
        // One stretch of the server's: all of it comes, and nothing more until somebody acts again.
        if (heard === peer.received.length) await arrival(peer, heard);
        const came = peer.received[heard++];
        const problem = matches(came, line.server, bound);
        expect(problem, `${where}: ${problem}\ncame: ${JSON.stringify(came)}`).toBeUndefined();
        for (const one of [came].flat()) expect(judged(one, revision, asked), where).toBeUndefined();
        const next = lines.slice(at + 1).find((line) => !("note" in line));
        if (next && "server" in next) continue;
        await peer.settle();
        expect(peer.received.slice(heard), `${where}: nothing more`).toEqual([]);
      }
    }
    await peer.settle();
    expect(peer.received.slice(heard), "nothing after the end").toEqual([]);
    peer.close();
  });
});

/** Settles when the message is there; a server that says nothing more fails the test with what is missing. */
async function arrival(peer: ReturnType<typeof createRawPeer>, heard: number): Promise<void> {
  for (let turns = 0; turns < 2000 && peer.received.length === heard; turns++) {
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Remembers what a request asked for and in which revision, to judge its answer by. */
function remember(message: unknown, session: Revision, asked: Map<unknown, { method: string; revision: Revision }>) {
  if (typeof message !== "object" || message === null) return;
  const { id, method, params } = message as { id?: unknown; method?: unknown; params?: { _meta?: object } };
  if (id === undefined || typeof method !== "string") return;
  const modern = Object.hasOwn(params?._meta ?? {}, "io.modelcontextprotocol/protocolVersion");
  asked.set(id, { method, revision: modern ? "2026-07-28" : session });
}

function judged(
  message: unknown,
  session: Revision,
  asked: Map<unknown, { method: string; revision: Revision }>,
): string | undefined {
  const request = asked.get((message as { id?: unknown }).id);
  return judgeSent(message as object, request?.revision ?? session, request?.method);
}
