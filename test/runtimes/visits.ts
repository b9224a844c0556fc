// What is asked of each example, wherever it runs: it serves both eras to anybody and to our client, and ends when told to.
import { connect, type Revision } from "plenum";
import { beforeAll, expect, test } from "vitest";
import { visitAndLeave, visitStateless, visitWithoutSession, visitWithSession } from "./drive.ts";
import type { Program } from "./program.ts";

export interface Expected {
  /** Whether it keeps sessions for the older revisions. */
  readonly keepsSessions?: boolean;
  /** Whether it has a page of its own at `/`; otherwise there is nothing. */
  readonly hasPage?: boolean;
  /** Whether it hears of a client that goes away before there is an answer. */
  readonly hearsEarly?: boolean;
  /** Whether it ends by itself when it is told to, after what runs. */
  readonly endsInOrder?: boolean;
  /** What it may complain about. */
  readonly complaint?: RegExp;
}

async function visitWithClient(url: string, revision: Revision, canAsk: boolean): Promise<void> {
  const progress: number[] = [];
  const client = await connect(url, {
    revision,
    onElicit: () => ({ action: "accept", content: { sure: true } }),
  });
  try {
    expect([client.revision, client.server.info?.name]).toEqual([revision, "launch-pad"]);
    const onProgress = (update: { progress: number }): void => {
      progress.push(update.progress);
    };
    const { text } = await client.callTool("count_down", { from: 3 }, { onProgress });
    expect([text, progress]).toEqual(["Zero.", [0, 1, 2]]);
    if (canAsk) expect((await client.callTool("launch", {})).text).toMatch(/^Launched/);
    const { contents } = await client.readResource("pad://events");
    expect(contents).toMatchObject([{ uri: "pad://events", mimeType: "text/plain" }]);
  } finally {
    await client.close();
  }
}

/** Where there is one process no secret is needed; that another could not go on with a call is said all the same. */
export const needsSecret: RegExp = /only this process can go on with it\. Give createServer a secret/;

/** Declares the tests of one example, inside a `describe` of its own. */
export function declareVisits(start: () => Promise<Program>, expected: Expected = {}): void {
  const { keepsSessions = true, hasPage = false, hearsEarly = true, endsInOrder = false, complaint } = expected;
  let program: Program;
  beforeAll(async () => {
    program = await start();
  }, 60_000);

  if (keepsSessions) test("serves a session of 2025-11-25", () => visitWithSession(program.url));
  else test("serves 2025-11-25 without a session", () => visitWithoutSession(program.url));

  test("serves 2026-07-28", () => visitStateless(program.url));

  test("stops the call of a client that leaves its stream", () => visitAndLeave(program.url, "stream"));

  if (hearsEarly) test("stops the call of a client that waits no more", () => visitAndLeave(program.url, "json"));

  test.each(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const)("serves our client in %s", (revision) =>
    visitWithClient(program.url, revision, revision >= "2026" || (keepsSessions && revision >= "2025-06")),
  );

  test("has its own routes beside it, or none", async () => {
    const response = await fetch(new URL("/", program.url));
    const text = await response.text();
    if (hasPage) expect([response.status, text]).toEqual([200, "The pad is at /mcp."]);
    else expect(response.status).toBe(404);
  });

  test("lets no page of another site in", async () => {
    const headers = { "content-type": "application/json", origin: "https://elsewhere.example" };
    const response = await fetch(program.url, { method: "POST", headers, body: "{}" });
    await response.text();
    expect(response.status).toBe(403);
  });

  test("ends when it is told to, and has had nothing to complain about", async () => {
    const exit = await program.stop();
    if (endsInOrder) expect(exit).toEqual({ code: 0, signal: null });
    expect(() => process.kill(program.pid, 0)).toThrow("ESRCH");
    const complaints = program
      .output()
      .split("\n")
      .filter((line) => /^(?! +at | *\d+ \|).*(error|warn|exception)/i.test(line));
    expect(complaints.filter((line) => !complaint?.test(line))).toEqual([]);
  });
}
