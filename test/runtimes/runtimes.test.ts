// The examples of examples/http that run elsewhere than on Node: on Deno, on Bun, and as a Worker in workerd, each from the
// built library.

import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { installMs } from "../apart.ts";
import { ensureBuilt } from "../house/built.ts";
import { root } from "../house/source.ts";
import { type Bundle, bundleWorker } from "./bundle.ts";
import { ensureRuntimes, programOf } from "./install.ts";
import { startProgram } from "./program.ts";
import { declareVisits, needsSecret } from "./visits.ts";

beforeAll(async () => {
  await ensureRuntimes();
  await ensureBuilt();
}, installMs + 60_000);

describe("examples/http/deno.ts", () => {
  const flags = ["--no-lock", "--allow-net=127.0.0.1", "--allow-env", "--unstable-no-legacy-abort"];
  const args = ["run", ...flags, "examples/http/deno.ts"];
  const start = () => startProgram({ command: programOf("deno"), args, env: { NO_COLOR: "1" } });
  declareVisits(start, { complaint: needsSecret });
});

describe("examples/http/bun.ts", () => {
  const start = () => startProgram({ command: programOf("bun"), args: ["examples/http/bun.ts"] });
  declareVisits(start, { complaint: needsSecret });
});

/** workerd says on the channel that it is given which port it has. */
const findPort = (output: string): string | undefined => {
  const port = /"event":"listen".*"port":(\d+)/.exec(output)?.[1];
  return port && `http://127.0.0.1:${port}/mcp`;
};

describe.each([
  // The answer to a question ends the wait of another request, and DELETE ends its stream; workerd remarks on it.
  ["test/runtimes/fixtures/session-worker.ts", true, /resolved or rejected from a different request context/],
  ["examples/http/worker.ts", false, undefined],
])("%s", (entry, keepsSessions, complaint) => {
  const folder = join(root, ".cache", "workers", basename(entry, ".ts"));
  const config = join(folder, "worker.capnp");
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleWorker(entry, join(folder, "worker.js"));
    copyFileSync(join(import.meta.dirname, "worker.capnp"), config);
  });

  test("has nothing of Node in it", () => {
    expect(bundle.external).toEqual(["cloudflare:workers"]);
    expect(bundle.text).not.toMatch(/\bnode:[a-z]/);
  });

  test("what is of Node would be found", async () => {
    const { external } = await bundleWorker("examples/http/node.ts", join(folder, "node.js"));
    expect(external).toContain("node:http");
  });

  const args = ["serve", "--control-fd=3", config];
  const start = () => startProgram({ command: programOf("workerd"), args, find: findPort });
  // workerd itself does not notice a client that goes away while nothing is written to it.
  declareVisits(start, { keepsSessions, hearsEarly: false, ...(complaint && { complaint }) });
});
