// The setup step: which Node is too old, and when the installed packages are not those of the lock file.
import { describe, expect, test } from "vitest";
import { checkInstalled, checkNode, type LockedPackage } from "../../scripts/setup.mjs";

test("Node is new enough from 20.19 on", () => {
  for (const version of ["v20.19.0", "v20.20.2", "v21.0.0", "v22.1.0", "v26.0.0"])
    expect(checkNode(version)).toBeUndefined();
  for (const version of ["v20.18.3", "v18.20.0", "v8.0.0"]) expect(checkNode(version)).toContain(`this is ${version}`);
});

describe("the installed packages", () => {
  const linux = { platform: "linux", arch: "x64" };
  const check = (wanted: Record<string, LockedPackage>, installed: Record<string, LockedPackage>): string | undefined =>
    checkInstalled({ packages: { "": {}, "packages/plenum": {}, ...wanted } }, { packages: installed }, linux);
  const a = { version: "1.0.0", integrity: "sha512-a" };

  test("are good when they are the same", () => {
    expect(check({ "node_modules/a": a }, { "node_modules/a": a })).toBeUndefined();
    expect(check({ "node_modules/plenum": { link: true } }, { "node_modules/plenum": { link: true } })).toBeUndefined();
  });

  test("are not when one is missing or another", () => {
    expect(check({ "node_modules/a": a }, {})).toContain("not installed");
    expect(check({ "node_modules/a/node_modules/b": a }, {})).toContain("not installed");
    expect(check({ "node_modules/a": a }, { "node_modules/a": { ...a, version: "1.0.1" } })).toContain(
      "another version",
    );
    expect(check({ "node_modules/a": a }, { "node_modules/a": { ...a, integrity: "sha512-b" } })).toContain("another");
    expect(check({ "node_modules/plenum": { link: true } }, {})).toContain("not installed");
  });

  test("need not be those of other platforms, but those of this one", () => {
    const platform = (os: string, cpu: string): LockedPackage => ({ ...a, optional: true, os: [os], cpu: [cpu] });
    expect(check({ "node_modules/a": platform("darwin", "arm64") }, {})).toBeUndefined();
    expect(check({ "node_modules/a": platform("linux", "arm64") }, {})).toBeUndefined();
    expect(check({ "node_modules/a": platform("linux", "x64") }, {})).toContain("not installed");
    expect(check({ "node_modules/a": { ...platform("linux", "x64"), libc: ["musl"] } }, {})).toBeUndefined();
  });
});
