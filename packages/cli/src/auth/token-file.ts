// Where logins are kept: one file in the user's folder for state, which only its owner can read.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** `$XDG_STATE_HOME` or `~/.local/state`, on Windows `%LOCALAPPDATA%`, and in it plenum/tokens.json. */
export function tokenPath(env: NodeJS.ProcessEnv = process.env, system: string = process.platform): string {
  const { XDG_STATE_HOME = "", LOCALAPPDATA = "" } = env;
  // A relative one counts for nothing: https://specifications.freedesktop.org/basedir-spec/
  const folder = [XDG_STATE_HOME, system === "win32" ? LOCALAPPDATA : ""].find(isAbsolute);
  return join(folder ?? join(homedir(), ".local", "state"), "plenum", "tokens.json");
}

/** Whether there may be a login for a server. Cheap: what a login takes is not loaded for others. */
export function mayHold(path: string, server: URL): boolean {
  try {
    // Origins are written in letters that JSON leaves as they are.
    return existsSync(path) && readFileSync(path, "utf8").includes(server.origin);
  } catch {
    // What cannot be read is complained of by who needs it.
    return true;
  }
}
