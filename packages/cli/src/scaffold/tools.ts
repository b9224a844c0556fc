// Programs that a scaffold needs once: the package manager that the user came with, and git.
import { spawn } from "node:child_process";

const managers = ["npm", "pnpm", "yarn", "bun"] as const;
export type Manager = (typeof managers)[number];

/** By the variable that package managers set for what they start; npm where there is none. */
export function findManager(userAgent: string | undefined = process.env.npm_config_user_agent): Manager {
  const name = userAgent?.split("/")[0];
  return managers.find((one) => one === name) ?? "npm";
}

export interface ToolProblem {
  readonly message: string;
  /** The end of what it has printed. */
  readonly said: string;
}

/** More is not kept of what a program prints: why it failed stands at the end. */
const maxSaid = 20_000;

/** Runs a program in a folder, its output on stderr. Gives undefined when it went well, else what went wrong. */
export function runTool(
  command: string,
  args: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<ToolProblem | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      signal,
      stdio: ["ignore", "pipe", "pipe"],
      // Package managers are batch files on Windows, which only a shell starts. The words are ours.
      shell: process.platform === "win32",
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        process.stderr.write(text);
        said = (said + text).slice(-maxSaid);
      });
    }
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ message: error.code === "ENOENT" ? `${command} was not found` : error.message, said }),
    );
    child.once("close", (code) =>
      resolve(code === 0 ? undefined : { message: `${command} ended with ${code ?? "a signal"}`, said }),
    );
  });
}

/** Whether a package manager says that the registry has no such release of Plenum's packages. */
export function isUnreleased({ said }: ToolProblem): boolean {
  return said
    .split("\n")
    .some(
      (line) =>
        /(?<!\d)404(?!\d)|no matching version/i.test(line) &&
        /(^|[\s'"/])(plenum|@plenum(\/|%2f)cli)(?![\w-])/i.test(line),
    );
}
