// The command line as it is installed, bundled: what Node itself imports of it has kept its names.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleCli } from "../../scripts/bundle-cli.mjs";
import { root } from "../house/source.ts";

const folder = join(root, "packages", "cli");
const dist = mkdtempSync(join(folder, ".bundle-"));
beforeAll(() => bundleCli(folder, dist), 60_000);
afterAll(() => rmSync(dist, { recursive: true, force: true }));

test.each([
  ["load/module-hooks.js", ["initialize", "load", "resolve"]],
  ["dev/extras-hooks.js", ["initialize", "resolve"]],
])("%s, which Node runs as module hooks, exports them", (file, names) => {
  const url = pathToFileURL(join(dist, file)).href;
  const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(url)})).sort()))`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual(names);
});
