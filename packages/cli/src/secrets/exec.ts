// Starts a command with the references in its environment resolved: for servers of others, which know nothing of them.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { Failure } from "../failure.ts";
import { resolveEnvironment } from "./references.ts";

/** Gives its exit code. It has our stdin, stdout and stderr, and gets the signals that we get. */
export async function execCommand([command, ...args]: readonly string[], signal: AbortSignal): Promise<number> {
  if (command === undefined) {
    throw new Failure("usage", "There is no command after --", {
      hint: "Such as: plenum secret exec -- node server.js",
    });
  }
  const child = spawn(command, args, { stdio: "inherit", env: await resolveEnvironment(), windowsHide: true });
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
