// A file that serves on stdin by itself cannot be served there once more: what people are told of it.
import { Failure } from "../failure.ts";
import type { FileSpec } from "../target/spec.ts";

/** Gives what `serve` gives. Throws a Failure where the file was first. */
export function serveOrFail<T>(spec: FileSpec, serve: () => T): T {
  try {
    return serve();
  } catch (error) {
    if (!/served already/.test((error as Error).message)) throw error;
    throw new Failure("usage", `${spec.name} serves on stdin by itself`, {
      code: "served_already",
      hint: `Run it as it is, node ${spec.name}, or let it export the server and not serve it.`,
      cause: error,
    });
  }
}
