// Authorization elsewhere than on Node, from the built library.
import { execFileSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { installMs } from "../apart.ts";
import { ensureBuilt } from "../house/built.ts";
import { root } from "../house/source.ts";
import { ensureRuntimes, programOf } from "./install.ts";

beforeAll(async () => {
  await ensureRuntimes();
  await ensureBuilt();
}, installMs + 60_000);

test.each([
  ["deno", ["run", "--no-lock", "--allow-env"]],
  ["bun", []],
] as const)("a client of %s gets a token, and a server of it checks that", (runtime, flags) => {
  const args = [...flags, "test/runtimes/fixtures/authorized.ts"];
  const env = { PATH: process.env.PATH, NO_COLOR: "1" };
  const said = execFileSync(programOf(runtime), args, { cwd: root, env, encoding: "utf8", timeout: 30_000 });
  expect(said).toBe("cleared by nightly\n");
});
