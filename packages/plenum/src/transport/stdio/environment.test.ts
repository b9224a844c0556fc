// What a server sees of our environment.
import { describe, expect, test } from "vitest";
import { readVariable, toEnvironment } from "./environment.ts";

const ours = {
  ...{ HOME: "/home/ann", LOGNAME: "ann", PATH: "/bin", SHELL: "/bin/sh", TERM: "xterm", USER: "ann" },
  ...{ API_KEY: "secret", NODE_OPTIONS: "--inspect", LD_PRELOAD: "x.so", home: "no", APPDATA: "no" },
};

describe("on POSIX", () => {
  test("only what is on the list", () => {
    expect(toEnvironment({}, ours, "linux")).toEqual({
      ...{ HOME: "/home/ann", LOGNAME: "ann", PATH: "/bin", SHELL: "/bin/sh", TERM: "xterm", USER: "ann" },
    });
  });

  test("what is given is added and wins; undefined leaves out", () => {
    const given = { KEY: "k", PATH: "/opt/bin", TERM: undefined, NOTHING: undefined, home: "mine", EMPTY: "" };
    expect(toEnvironment(given, { PATH: "/bin", TERM: "xterm", HOME: "/h" }, "darwin")).toEqual({
      ...{ PATH: "/opt/bin", HOME: "/h", KEY: "k", home: "mine", EMPTY: "" },
    });
  });

  test("functions of a shell are not inherited", () => {
    expect(toEnvironment({}, { SHELL: "() { :; }; echo", PATH: "/bin", TERM: undefined }, "linux")).toEqual({
      PATH: "/bin",
    });
  });

  test("a name like any other", () => {
    const given = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const made = toEnvironment(given, {}, "linux");
    expect(Object.entries(made)).toEqual([["__proto__", "x"]]);
  });
});

describe("on Windows", () => {
  test("only what is on the list, whatever its case", () => {
    const inherited = {
      ...{ APPDATA: "1", HomeDrive: "2", HOMEPATH: "3", LocalAppData: "4", Path: "5", PROCESSOR_ARCHITECTURE: "6" },
      ...{ SystemDrive: "7", SystemRoot: "8", TEMP: "9", USERNAME: "10", UserProfile: "11" },
      ...{ HOME: "no", SHELL: "no", ComSpec: "no", Secret: "no", TMP: "no" },
    };
    expect(toEnvironment({}, inherited, "win32")).toEqual({
      ...{ APPDATA: "1", HomeDrive: "2", HOMEPATH: "3", LocalAppData: "4", Path: "5", PROCESSOR_ARCHITECTURE: "6" },
      ...{ SystemDrive: "7", SystemRoot: "8", TEMP: "9", USERNAME: "10", UserProfile: "11" },
    });
  });

  test("one of a name", () => {
    expect(toEnvironment({ PATH: "x", key: "1", KEY: "2" }, { Path: "y" }, "win32")).toEqual({ PATH: "x", KEY: "2" });
    expect(toEnvironment({ path: undefined }, { Path: "y" }, "win32")).toEqual({});
  });
});

describe("what no process can be given", () => {
  test.each<[Record<string, unknown>, RegExp]>([
    [{ "": "x" }, /name/],
    [{ "A=B": "x" }, /"A=B"/],
    [{ "A\0": "x" }, /name/],
    [{ KEY: "s3cret\0" }, /"KEY" holds a NUL/],
    [{ KEY: 5 }, /"KEY" is a number: give a string/],
    [{ KEY: null }, /"KEY" is null/],
  ])("%j", (given, message) => {
    expect(() => toEnvironment(given as Record<string, string>, {}, "linux")).toThrow(TypeError);
    expect(() => toEnvironment(given as Record<string, string>, {}, "linux")).toThrow(message);
    expect(() => toEnvironment(given as Record<string, string>, {}, "linux")).not.toThrow(/s3cret/);
  });
});

test("readVariable", () => {
  expect(readVariable({ Path: "x" }, "PATH")).toBe("x");
  expect(readVariable({}, "PATH")).toBeUndefined();
});
