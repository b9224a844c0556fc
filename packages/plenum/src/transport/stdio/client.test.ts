// The target without a process: its names, its key, and options that cannot be meant.
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { type StdioTargetOptions, stdioTarget } from "./client.ts";

const base: StdioTargetOptions = {
  command: "npx",
  args: ["-y", "some server", "--token", "s3cret-arg"],
  env: { KEY: "s3cret-env", OTHER: "2" },
  cwd: "/tmp",
};

test("the name is the command line, without its secrets", () => {
  expect(stdioTarget(base).name).toBe("npx -y 'some server' --token ***");
});

describe("the key", () => {
  const key = (options: Partial<StdioTargetOptions> = {}): string | undefined =>
    stdioTarget({ ...base, ...options }).key;

  test("is the same for the same configuration", () => {
    expect(key()).toBe(key());
    expect(key()).toBe(key({ env: { OTHER: "2", KEY: "s3cret-env" } }));
    expect(key()).toBe(key({ cwd: pathToFileURL("/tmp") }));
    expect(key()).toBe(key({ stderr: "ignore", closeMs: 1 }));
  });

  test.each<Partial<StdioTargetOptions>>([
    { command: "npm" },
    { args: ["-y", "some", "server", "--token", "s3cret-arg"] },
    { args: [] },
    { env: { KEY: "another", OTHER: "2" } },
    { env: { KEY: "s3cret-env" } },
    { env: { KEY: "s3cret-env", OTHER: undefined } },
    { cwd: "/" },
  ])("is another for another: %j", (options) => {
    expect(key(options)).not.toBe(key());
  });

  test("holds no secret", () => {
    expect(key()).toMatch(/^stdio:[\w-]{43}$/);
  });

  test("what is changed afterwards does not count", () => {
    const args = ["a"];
    const target = stdioTarget({ command: "x", args });
    args.push("b");
    expect(target.key).toBe(stdioTarget({ command: "x", args: ["a"] }).key);
  });
});

test.each<[string, Record<string, unknown>]>([
  ["command", { command: "" }],
  ["command", { command: undefined }],
  ["NUL", { command: "a\0" }],
  ["args", { args: ["a", 5] }],
  ["NUL", { args: ["a\0"] }],
  ["env", { env: { "A=B": "x" } }],
  ["closeMs", { closeMs: -1 }],
  ["closeMs", { closeMs: Number.POSITIVE_INFINITY }],
  ["killMs", { killMs: Number.NaN }],
  ["maxBytes", { maxBytes: 0 }],
  ["maxQueuedBytes", { maxQueuedBytes: 0 }],
  ["file", { cwd: new URL("https://example.com") }],
])("%s: %j is refused at once", (what, options) => {
  const make = () => stdioTarget({ ...base, ...options } as StdioTargetOptions);
  expect(make).toThrow(TypeError);
  expect(make).toThrow(new RegExp(what));
});
