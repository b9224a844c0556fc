// What goes wrong in a server outside of its calls, in the process that runs it.
import { toHarmless } from "../output.ts";
import type { FileSpec } from "../target/spec.ts";
import { describeThrown } from "./thrown.ts";

/**
 * A promise that nobody waits for should not end a server that others use, nor go unseen; an exception that nobody caught has
 * left it in a state that nobody knows. A file that listens to these itself decides itself.
 * @param end ends the process, of an exception
 */
export function watchMishaps(spec: FileSpec, end: (error: unknown) => void = () => process.exit(1)): void {
  const say = (what: string, error: unknown): void => {
    process.stderr.write(`${toHarmless(`${spec.name}: ${what}: ${describeThrown(error)}`)}\n`);
  };
  process.on("unhandledRejection", (reason) => {
    if (process.listenerCount("unhandledRejection") === 1)
      say("a promise was rejected, and nothing handles that", reason);
  });
  // The one of every command ends the process, whoever else listens.
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => {
    if (process.listenerCount("uncaughtException") > 1) return;
    say("an exception was not caught, so the server ends", error);
    end(error);
  });
}
