import { expect, test } from "vitest";
import { each, openClient } from "./harness.ts";

test.each(each())("$revision over $transport", async ({ revision, transport }) => {
  const client = await openClient(revision, transport, {
    onElicit: () => ({ action: "accept", content: { confirm: true } }),
  });
  expect(client.revision).toBe(revision);
  const names = (await client.listTools().all()).map(({ name }) => name);
  expect(names).toContain("deploy");
  expect((await client.callTool("echo", { text: "hello" })).text).toBe("hello");
});
