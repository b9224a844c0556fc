// The environment of a server that we start. A server is somebody else's program: of our own environment it gets what
// a program needs to run at all, and not the keys and tokens that happen to lie there.

const inheritedNames: readonly string[] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
const inheritedNamesOnWindows: readonly string[] = [
  ...["APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE"],
  ...["SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"],
];

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What is on the list of the platform, and all that is given. A given variable replaces an inherited one, and a given
 * `undefined` leaves it out. Inherited values that begin with `()` are functions of a shell and are left out: old
 * shells run them. On Windows names are compared without regard to case; the last one given wins.
 *
 * Throws a TypeError for a name or a value that no process can be given.
 */
export function toEnvironment(
  given: Environment = {},
  inherited: Environment = process.env,
  platform: string = process.platform,
): Record<string, string> {
  const isWindows = platform === "win32";
  const fold = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const wanted = new Set(isWindows ? inheritedNamesOnWindows : inheritedNames);
  const variables = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && wanted.has(fold(name)) && !value.startsWith("()"))
      variables.set(fold(name), [name, value]);
  }
  for (const [name, value] of Object.entries(given)) {
    assertVariable(name, value);
    if (value === undefined) variables.delete(fold(name));
    else variables.set(fold(name), [name, value]);
  }
  return Object.fromEntries(variables.values());
}

/** The value of a variable, whatever the case of its name: `Path` is usual on Windows. */
export function readVariable(environment: Environment, name: string): string | undefined {
  const found = Object.keys(environment).find((other) => other.toUpperCase() === name.toUpperCase());
  return found === undefined ? undefined : environment[found];
}

/** Messages name the variable and never show its value. */
function assertVariable(name: string, value: unknown): void {
  const shown = JSON.stringify(name);
  if (name === "" || /[=\0]/.test(name)) {
    throw new TypeError(`env holds the name ${shown}: a name is not empty and has neither "=" nor NUL in it`);
  }
  if (value === undefined) return;
  if (typeof value !== "string") {
    throw new TypeError(
      `env.${shown} is ${value === null ? "null" : `a ${typeof value}`}: give a string, or leave it out`,
    );
  }
  if (value.includes("\0")) throw new TypeError(`env.${shown} holds a NUL character, which no process can be given`);
}
