// Progress of a call as a line that is written over, at a terminal alone.
import type { ProgressUpdate } from "plenum";
import type { Output } from "./output.ts";

export interface Progress {
  readonly update: (update: ProgressUpdate) => void;
  readonly end: () => void;
}

export function createProgress(output: Output): Progress {
  return {
    update: ({ progress, total, message }) => output.status(`${progress}${total ? `/${total}` : ""} ${message ?? ""}`),
    end: () => output.status(undefined),
  };
}
