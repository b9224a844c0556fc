import { afterEach, expect, test, vi } from "vitest";
import { createOutput, formatJson, type Output, toHarmless, toLine } from "./output.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** At a terminal; `shown` is all that was written to stderr. */
function openOutput(): { readonly output: Output; readonly shown: () => string } {
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const output = createOutput({ isJson: false, isQuiet: false, color: false });
  process.stderr.isTTY = isTTY;
  return { output, shown: () => write.mock.calls.map(([text]) => text).join("") };
}

test("who has the terminal alone is not disturbed: status lines are left out, and words wait", async () => {
  const { output, shown } = openOutput();
  output.status("50%");
  await output.alone(async () => {
    process.stderr.write("[name?]");
    output.status("60%");
    output.note("a note");
    output.warn("a warning");
    process.stderr.write("[Ann]\n");
  });
  output.status("70%");
  expect(shown()).toBe("50%\r   \r[name?][Ann]\na note\nwarning: a warning\n70%");
});

test("one has it after another, whatever became of the first", async () => {
  const { output, shown } = openOutput();
  const first = output.alone(async () => {
    process.stderr.write("<1");
    await new Promise((resolve) => setImmediate(resolve));
    process.stderr.write("1>");
    throw new Error("cancelled");
  });
  const second = output.alone(async () => process.stderr.write("<2>"));
  await expect(first).rejects.toThrow("cancelled");
  await second;
  expect(shown()).toBe("<11><2>");
});

test("what turns text around, or ends a line, is made visible", () => {
  expect(toHarmless("a\u202eb\u2066c\u200fd\u061ce\u2028f\u009bg\th\ni")).toBe(
    "a\\u202eb\\u2066c\\u200fd\\u061ce\\u2028f\\x9bg\th\ni",
  );
  expect(toLine("a\r\nb\nc")).toBe("a\\nb\\nc");
});

test("JSON holds no control characters as such, and says the same", () => {
  const value = { text: "\u007f\u0080\u009b2J\u009f\u00a0\u001b" };
  expect(formatJson(value)).toBe('{"text":"\\u007f\\u0080\\u009b2J\\u009f\u00a0\\u001b"}');
  expect(JSON.parse(formatJson(value))).toEqual(value);
});
