import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tokenPath } from "./token-file.ts";

const usual = join(homedir(), ".local", "state", "plenum", "tokens.json");

test.each([
  [{}, "linux", usual],
  [{}, "darwin", usual],
  [{ XDG_STATE_HOME: "/var/state" }, "linux", join("/var/state", "plenum", "tokens.json")],
  // One that is not absolute counts for nothing.
  [{ XDG_STATE_HOME: "state" }, "linux", usual],
  [{ LOCALAPPDATA: "/local" }, "linux", usual],
  [{ LOCALAPPDATA: "/local" }, "win32", join("/local", "plenum", "tokens.json")],
])("%j on %s: %s", (env, system, path) => {
  expect(tokenPath(env, system)).toBe(path);
});
