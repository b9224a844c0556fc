// Programs that a scaffold needs once: the package manager that the user came with, and git.
import { spawn } from "node:child_process";

const managers = ["npm", "pnpm", "yarn", "bun"] as const;
export type Manager = (typeof managers)[number];

/** By the variable that package managers set for what they start; npm where there is none. */
export function findManager(userAgent: string | undefined = process.env.npm_config_user_agent): Manager {
  const name = userAgent?.split("/")[0];
  return managers.find((one) => one === name) ?? "npm";
}

/** Runs a program in a folder, its output on stderr. Gives undefined when it went well, else what went wrong. */
export function runTool(
  command: string,
  args: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      signal,
      stdio: ["ignore", process.stderr, process.stderr],
      // Package managers are batch files on Windows, which only a shell starts. The words are ours.
      shell: process.platform === "win32",
    });
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ENOENT" ? `${command} was not found` : error.message),
    );
    child.once("close", (code) => resolve(code === 0 ? undefined : `${command} ended with ${code ?? "a signal"}`));
  });
}
