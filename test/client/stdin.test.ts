// What a child process finds on its stdin: messages of the revision, one a line, and nothing else.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, revisions } from "plenum";
import { expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { judgeSent } from "../suites/judge.ts";
import { bundleProgram, errorOf } from "./harness.ts";

interface Line {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly requestId?: number; readonly name?: string };
}

test.each(revisions)("in %s", async (revision) => {
  covers(["stdio-stdin-only-mcp", "stdio-cancel-notification", "stdio-client-support"], revision);
  const folder = mkdtempSync(join(tmpdir(), "plenum-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "stdin");
  const recorder = join(import.meta.dirname, "fixtures", "recorder.mjs");
  const program = await bundleProgram("test/client/fixtures/workshop.ts");
  const client = await connect(
    { command: process.execPath, args: [recorder, file, process.execPath, program] },
    {
      revision,
      roots: ["file:///tmp"],
      onElicit: () => ({ action: "accept", content: { name: "line\nbreak\u2028 and ü" } }),
      onLog() {},
      onListChanged() {},
    },
  );
  await client.listTools().all();
  await client.callTool("echo", { text: "one\ntwo\r\nthree\u2028four ü 🙂" });
  if (revision >= "2025-06-18") await client.callTool("together");
  await client.subscribe("note://one");
  await client.unsubscribe("note://one");
  const stop = new AbortController();
  const hanging = client.callTool("hang", {}, { signal: stop.signal });
  await expect.poll(async () => (await client.callTool("seen")).text).toContain("hang started");
  stop.abort();
  expect((await errorOf(hanging)).code).toBe("aborted");
  await expect.poll(async () => (await client.callTool("seen")).text).toContain("hang cancelled");
  await client.close();

  const text = readFileSync(file, "utf8");
  expect(text.endsWith("\n")).toBe(true);
  const lines = text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  // Which ask an answer is to is not on this side of the wire: of answers only the form is judged here.
  for (const line of lines)
    expect(judgeSent(line, revision, undefined, "client"), JSON.stringify(line)).toBeUndefined();
  const call = lines.find(({ params }) => params?.name === "hang");
  const cancelled = lines.filter(
    ({ method, params }) => method === "notifications/cancelled" && params?.requestId === call?.id,
  );
  expect(cancelled).toHaveLength(1);
});
