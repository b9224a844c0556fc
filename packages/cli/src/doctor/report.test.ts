// The three reports of the same findings, with texts of a server that means no good.
import { expect, test } from "vitest";
import { readXml } from "../../../../test/cli/xml.ts";
import type { Check } from "./check.ts";
import { toJson } from "./report-json.ts";
import { escapeXml, formatJunit } from "./report-junit.ts";
import { formatText, isUnicodeLocale } from "./report-text.ts";
import type { Entry } from "./run.ts";

const check: Check = {
  id: "tools/names",
  title: "Names are right",
  looksAt: "names",
  appliesTo: "any",
  severity: "error",
  remedy: "Rename it",
  run: () => ({ findings: [] }),
};

const hostile = "a \"b\" <c> & 'd' ]]> \u0000\u001b[31m\ud800\uffff";

const failed = (more: Partial<Entry> = {}): Entry => ({
  check,
  status: "failed",
  severity: "error",
  message: hostile,
  where: `tool ${hostile}`,
  remedy: check.remedy,
  revision: "2025-11-25",
  ...more,
});

const plain = { paint: (_: string, text: string) => text, isUnicode: true };

test("JUnit is well-formed, whatever a server says", () => {
  const xml = formatJunit([failed(), failed({ severity: "note" })], {
    isFailure: ({ severity }) => severity === "error",
  });
  const [suite] = readXml(xml).children;
  expect(suite?.attributes).toMatchObject({ tests: "1", failures: "1", skipped: "0" });
  const [failure, others] = suite?.children[0]?.children ?? [];
  expect(failure?.text).toContain(`a "b" <c> & 'd' ]]> \ufffd\ufffd[31m\ufffd\ufffd [2025-11-25]\n  Rename it`);
  expect(others?.text).toMatch(/^note: /);
  expect(escapeXml("\t\n😀é")).toBe("\t\n😀é");
});

test("text shows no sequences of a server, and a few findings of many", () => {
  const text = formatText(
    Array.from({ length: 12 }, (_, at) => failed({ message: `${hostile} ${at}` })),
    plain,
  );
  expect(text).toContain("\\x1b[31m");
  expect(text).not.toContain("\u001b");
  expect(text).toContain("… and 4 more; --format json has all");
  expect(text.match(/→ Rename it/g)).toHaveLength(1);
  expect(text).toContain("1 check: 0 passed, 1 with errors");
});

test("the same of many is said once, with the first places", () => {
  const text = formatText(
    Array.from({ length: 7 }, (_, at) => failed({ message: "It is bad.", where: `tool ${at}`, revision: undefined })),
    plain,
  );
  expect(text).toContain("      tool 0, tool 1, tool 2, tool 3, tool 4 and 2 more: It is bad.\n");
  expect(text.match(/It is bad/g)).toHaveLength(1);
});

test("what is skipped for one reason is one line", () => {
  const skipped = (id: string): Entry => failed({ check: { ...check, id }, status: "skipped", message: "it has none" });
  expect(formatText([skipped("a/b"), skipped("a/c")], plain)).toContain("a\n  - 2 checks skipped: it has none\n");
});

test("JSON has a record for each", () => {
  const passed = failed({ status: "passed", message: "", where: undefined, remedy: undefined, revision: undefined });
  expect(toJson([passed])).toEqual([
    {
      check: "tools/names",
      severity: "error",
      status: "passed",
      message: check.title,
      where: null,
      remedy: null,
      revision: null,
    },
  ]);
});

test.each([
  [{ LANG: "de_DE.UTF-8" }, "linux", true],
  [{ LANG: "C.utf8" }, "linux", true],
  [{ LANG: "C" }, "linux", false],
  [{ LANG: "de_DE.UTF-8", LC_ALL: "C" }, "linux", false],
  [{}, "linux", false],
  [{}, "darwin", true],
  [{}, "win32", false],
  [{ WT_SESSION: "1" }, "win32", true],
])("a locale %j on %s", (env, platform, expected) => {
  expect(isUnicodeLocale(env, platform)).toBe(expected);
});
