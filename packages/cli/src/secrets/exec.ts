// Starts a command with the references in its environment resolved: for servers of others, which know nothing of them.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { Resolved } from "plenum/stdio/client";
import { Failure } from "../failure.ts";
import { resolveEnvironment } from "./references.ts";

/** Gives its exit code. It has our stdin, stdout and stderr, and gets the signals that we get. */
export async function execCommand([command, ...args]: readonly string[], signal: AbortSignal): Promise<number> {
  if (command === undefined) {
    throw new Failure("usage", "There is no command after --", {
      hint: "Such as: plenum secret exec -- node server.js",
    });
  }
  const env = await resolveEnvironment();
  const { file, args: words, verbatim } = await findProgram(command, args, env);
  const child = spawn(file, words, { stdio: "inherit", env, windowsHide: true, windowsVerbatimArguments: verbatim });
  const stop = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", (error) =>
        reject(
          new Failure("unreachable", `${command} cannot be started: ${error.message}`, {
            hint: "Is it installed, and in the PATH of the host?",
            cause: error,
          }),
        ),
      );
      child.once("close", (code, name) => resolve(code ?? 128 + (name ? constants.signals[name] : 0)));
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** As given, but on Windows, where `npx` is a batch file, which has to be found and started as such. */
async function findProgram(
  command: string,
  args: readonly string[],
  env: { readonly [name: string]: string },
): Promise<Resolved> {
  const { platform } = process;
  const asGiven = { file: command, args, verbatim: false };
  if (platform !== "win32") return asGiven;
  const { resolveCommand } = await import("plenum/stdio/client");
  const where = { platform, env, inherited: process.env, cwd: process.cwd(), exists: existsSync };
  return resolveCommand(command, args, where) ?? asGiven;
}
