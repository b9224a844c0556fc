// A file whose library is another copy than the one that is part of the program: what passes between them is known to both.
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureBuilt, packageFolder } from "../house/built.ts";
import { root } from "../house/source.ts";
import { makeFolder, runCli } from "./stage.ts";

const server = `import { createServer, McpError, ToolError } from "plenum";
import { z } from "zod";
const server = createServer({ name: "copy", version: "1.0.0" });
server.tool("refuse", {}, () => { throw new McpError("application", "Not on Sundays", { rpcCode: 17, data: { day: 7 } }); });
server.tool("advise", {}, () => { throw new ToolError("Try a city"); });
server.tool("break", {}, () => { throw new Error("secret"); });
server.tool("either", { output: z.union([z.array(z.string()), z.object({ one: z.string() })]) }, () => ({ one: "a" }));
server.tool("ask", {}, async (_, ctx) => {
  const paid = await ctx.step("pay", () => 7);
  const answer = await ctx.elicit("Your name?", z.object({ name: z.string() }));
  return answer.action === "accept" ? answer.content.name + " " + paid : answer.action;
});
server.tool("fall", {}, async (_, ctx) => {
  await ctx.step("fall", () => { throw new ToolError("The step says no"); });
});
export default server;
`;

/** A file with a copy beside it. */
async function makeServer(): Promise<string> {
  await ensureBuilt();
  const folder = makeFolder({ "server.mjs": server });
  const modules = join(folder, "node_modules");
  for (const path of ["package.json", "dist"])
    cpSync(join(packageFolder, path), join(modules, "plenum", path), { recursive: true });
  for (const name of ["zod", "@standard-schema", "eventsource-parser", "jose", "oauth4webapi"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  return join(folder, "server.mjs");
}

test.each(["2025-06-18", "2025-11-25", "2026-07-28"])("both copies understand each other in %s", async (revision) => {
  const file = await makeServer();
  const call = (...words: string[]) => runCli(["call", file, ...words, "--revision", revision]);

  const refused = await call("refuse", "--json");
  expect(refused.code).toBe(4);
  expect(refused.json()[0]).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("Not on Sundays"), data: { day: 7 } },
  });

  expect(await call("advise")).toMatchObject({ code: 5, stdout: "Try a city\n" });
  expect(await call("fall")).toMatchObject({ code: 5, stdout: "The step says no\n" });
  const broken = await call("break");
  expect(broken.code).toBe(5);
  expect(broken.stdout).not.toContain("secret");

  expect(await call("ask", "--answer", "name=Ann")).toMatchObject({ code: 0, stdout: "Ann 7\n" });

  // Which its schema does not say of every value: only the mark on the result does.
  const one = { one: "a" };
  const either = await call("either", "--json");
  expect(either.json()[0]).toMatchObject({
    ok: true,
    result: { structuredContent: revision === "2026-07-28" ? one : { result: one } },
  });
});
