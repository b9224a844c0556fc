// The keychain that the tests of secrets need: GNOME Keyring on a bus of its own, as the system packages them. Where they are not
// there they are installed; where that cannot be done it is a failure.
import { findProgram, installMs, installPackages } from "./debian.mjs";

/** How long a test should wait for `ensureKeyring`. */
export const keyringMs = installMs;

const programs = { "dbus-run-session": "dbus", "dbus-daemon": "dbus-daemon", "gnome-keyring-daemon": "gnome-keyring" };

const missing = () => Object.keys(programs).filter((name) => !findProgram(name));

/** What a command is started with to have a keychain that is unlocked; the command and its arguments follow. */
export async function ensureKeyring() {
  const problem =
    missing().length > 0 ? await installPackages([...new Set(missing().map((name) => programs[name]))]) : undefined;
  if (missing().length > 0) {
    throw new Error(`There is no ${missing().join(", ")}, and it could not be installed.\n${problem ?? ""}`);
  }
  const script = 'printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$@"';
  return ["dbus-run-session", "--", "sh", "-c", script, "sh"];
}
