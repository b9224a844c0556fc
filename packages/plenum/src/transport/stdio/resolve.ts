// What is really started. Windows starts only `.exe` and `.com` files by itself: a batch file, which is what `npx` is
// there, has to go through cmd.exe, whose reading of a command line is made harmless here. Pure functions: the file
// system and the environment are given.
import { win32 } from "node:path";
import { type Environment, readVariable } from "./environment.ts";

export interface Resolved {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are already written as the program reads them: they are joined with spaces and not quoted again. */
  readonly verbatim: boolean;
}

export interface ResolveOptions {
  /** As in `process.platform`. */
  readonly platform: string;
  /** What the server gets: its PATH is searched. */
  readonly env: Environment;
  /** Ours: says where Windows is and what its programs end with. */
  readonly inherited: Environment;
  /** Absolute. */
  readonly cwd: string;
  readonly exists: (path: string) => boolean;
}

/**
 * The program to start and its arguments. As given everywhere but on Windows, where the program is looked for in PATH
 * (never in the current folder, where anybody may have put one) with the usual endings. Undefined when it is not there.
 *
 * Throws a TypeError for arguments that cannot be passed to a batch file safely.
 */
export function resolveCommand(
  command: string,
  args: readonly string[],
  options: ResolveOptions,
): Resolved | undefined {
  if (options.platform !== "win32") return { file: command, args, verbatim: false };
  const file = findOnWindows(command, options);
  if (file === undefined) return undefined;
  if (!/\.(?:bat|cmd)$/i.test(file)) return { file, args, verbatim: false };
  return {
    file: findShell(options.inherited),
    args: ["/e:on", "/v:off", "/d", "/s", "/c", toBatchLine(file, args)],
    verbatim: true,
  };
}

const endings: readonly string[] = [".com", ".exe", ".bat", ".cmd"];

function findOnWindows(command: string, { env, inherited, cwd, exists }: ResolveOptions): string | undefined {
  const isPath = /[\\/:]/.test(command);
  const folders = isPath ? [cwd] : (readVariable(env, "PATH") ?? "").split(";").map((part) => part.replaceAll('"', ""));
  const names = endings.includes(win32.extname(command).toLowerCase())
    ? [command]
    : toEndings(readVariable(env, "PATHEXT") ?? readVariable(inherited, "PATHEXT")).map((ending) => command + ending);
  for (const folder of folders) {
    if (folder === "") continue;
    for (const name of names) {
      const path = win32.resolve(cwd, folder, name);
      if (exists(path)) return path;
    }
  }
  return undefined;
}

/** In the user's order. Others on the list, such as `.js`, are opened by an associated program, which has no pipes to us. */
function toEndings(pathExt: string | undefined): readonly string[] {
  const listed = pathExt
    ?.toLowerCase()
    .split(";")
    .map((ending) => ending.trim());
  const found = listed?.filter((ending) => endings.includes(ending)) ?? [];
  return found.length > 0 ? found : endings;
}

/** By its place and not by COMSPEC or PATH, either of which may lead elsewhere. */
export function findSystemProgram(name: string, inherited: Environment): string {
  const root = readVariable(inherited, "SYSTEMROOT") ?? readVariable(inherited, "WINDIR") ?? "C:\\Windows";
  return win32.join(root, "System32", name);
}

function findShell(inherited: Environment): string {
  return findSystemProgram("cmd.exe", inherited);
}

/** What cmd.exe takes; longer lines it cuts or refuses. */
const maxLine = 8191;

/** The one argument after `/s /c`: outer quotes that cmd.exe takes off, and inside them the line that it reads. */
function toBatchLine(file: string, args: readonly string[]): string {
  const line = `"${[quoteForBatch(file), ...args.map(escapeForBatch)].join(" ")}"`;
  if (line.length > maxLine) {
    throw new TypeError(
      `The arguments are ${line.length} characters long, and Windows passes at most ${maxLine} to a batch file such as ` +
        `${win32.basename(file)}: start the program behind it directly, such as node with the path of the script`,
    );
  }
  return line;
}

/** Safe without quotes, which some batch files would compare as part of the argument. */
const harmless = /^(?:[\p{L}\p{N}#$*+\-./:?@\\_]*[\p{L}\p{N}#$*+\-./:?@_])$/u;

/**
 * An argument written so that cmd.exe, and the batch file that repeats its arguments to a program, both take it as one
 * piece of text:
 *
 * - In double quotes `& | < > ( ) ^` and whitespace are only text, on the first reading and on any further one.
 * - A quote is doubled, and so leaves and enters the quoted part at the same place. Backslashes before it are doubled
 *   as well, because the program at the end reads them as escapes.
 * - `%` is replaced even in quotes. `%cd:~,%` is nothing at all (a part of the folder's name, of no length), so that
 *   `%%cd:~,%` leaves one percent sign that has no partner. It needs `/e:on`.
 * - `!` means something only with `/v:on`.
 *
 * What a batch file does with its arguments beyond that, by `call` or by delayed expansion of its own, is its affair.
 * A line break ends the command whatever is around it, and is refused with a TypeError; so is NUL.
 */
export function escapeForBatch(arg: string): string {
  return harmless.test(arg) ? arg : quoteForBatch(arg);
}

function quoteForBatch(arg: string): string {
  if (/[\r\n\0]/.test(arg)) {
    throw new TypeError(
      "An argument holds a line break or NUL, which cannot be passed to a batch file safely: start the program behind it " +
        "directly, such as node with the path of the script, or give the text in env",
    );
  }
  const text = arg.replace(/(\\*)("|$)/g, (_, slashes: string, end: string) => slashes + slashes + end + end);
  return `"${text.replaceAll("%", "%%cd:~,%")}"`;
}
