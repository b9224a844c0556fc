// The tables of options in docs/http.md have every option of the source, no other, and the defaults of the source.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toSettings } from "../../packages/plenum/src/transport/http/options.ts";
import { root } from "../house/source.ts";

const page = readFileSync(join(root, "docs/http.md"), "utf8");
const section = page.slice(page.indexOf("\n## Options\n"), page.indexOf("\n## Which client gets what\n"));
const [shared = "", ofServeHttp = ""] = section.split("`serveHttp` alone has these besides");

/** Every option of a table with the text of its default. */
function readTable(text: string): Map<string, string> {
  const rows = [...text.matchAll(/^\| (`.*?) \| (.*?) \|/gm)];
  return new Map(rows.flatMap(([, names = "", value = ""]) => names.split(", ").map((name) => [bare(name), value])));
}

const bare = (text: string): string => text.replaceAll("`", "");

/** All settings by the names of their options, those of groups as `sessions.max`. */
function flatten(settings: object, prefix = ""): [name: string, value: unknown][] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const name = prefix + key;
    const isGroup = typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map);
    return isGroup ? [[name, undefined] as [string, unknown], ...flatten(value, `${name}.`)] : [[name, value]];
  });
}

const plain = new Map(flatten(toSettings({}, "test")));
const all = new Map(flatten(toSettings({ sse: true, cors: true }, "test")));
const table = readTable(shared);

test("every option has a row, and every row is one", () => {
  expect([...table.keys()].sort()).toEqual([...all.keys()].sort());
});

test.each([...all].filter(([name, value]) => typeof value === "number" && table.has(name)))("%s", (name, value) => {
  expect(table.get(name)).toBe((value as number).toLocaleString("en"));
});

test("what is text or a switch is as the page says", () => {
  for (const name of ["answers", "sse", "cors", "dangerouslyAllowAnyHost"])
    expect(table.get(name)).toBe(`\`${JSON.stringify(plain.get(name))}\``);
  for (const name of ["sse.path", "sse.messagesPath"])
    expect(table.get(name)).toBe(`"${all.get(name)}"`.replace(/^|$/g, "`"));
});

test("what serveHttp has besides", () => {
  const text = readFileSync(join(root, "packages/plenum/src/transport/http/node.ts"), "utf8");
  const [, names = ""] = /const extraNames = \[(.*?)\]/s.exec(text) ?? [];
  const rows = readTable(ofServeHttp);
  expect([...rows.keys()].sort()).toEqual(JSON.parse(`[${names}]`).sort());
  for (const [name, value] of rows) {
    const [, digits] = new RegExp(`\\b${name} = ([\\d_]+)`).exec(text) ?? [];
    if (digits !== undefined)
      expect([name, value]).toEqual([name, Number(digits.replaceAll("_", "")).toLocaleString("en")]);
  }
});
