// The machine as far as paths depend on it: its system, the user's home, variables, the folder one is in. Handed in, so that the paths of
// every system can be tested on any.
import { homedir } from "node:os";
import path from "node:path";

export interface Place {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

/** Where this process is. */
export function findPlace(): Place {
  return { platform: process.platform, home: homedir(), env: process.env, cwd: process.cwd() };
}

/** How paths are written there. */
export function pathOf({ platform }: Place): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** A variable that names a folder. One that is no absolute path is as good as none: so says the XDG specification. */
export function folderOf(place: Place, variable: string): string | undefined {
  const value = place.env[variable];
  return value && pathOf(place).isAbsolute(value) ? value : undefined;
}

/** `$XDG_CONFIG_HOME` or `~/.config`, on every system. */
export function configHome(place: Place): string {
  return folderOf(place, "XDG_CONFIG_HOME") ?? pathOf(place).join(place.home, ".config");
}

/** Where applications keep what they are told: by the custom of the system. */
export function applicationHome(place: Place): string {
  const { join } = pathOf(place);
  if (place.platform === "darwin") return join(place.home, "Library", "Application Support");
  if (place.platform === "win32") return folderOf(place, "APPDATA") ?? join(place.home, "AppData", "Roaming");
  return configHome(place);
}
