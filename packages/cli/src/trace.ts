// --trace: every message on stderr as it passes, with what may be secret taken out.
import { formatMessage, type TapReport } from "plenum/tap";
import type { Output } from "./output.ts";

export function createTrace(output: Output): TapReport {
  return (event) => {
    if (event.kind === "sent") output.note(`→ ${formatMessage(event.message)}`);
    else if (event.kind === "received" && event.incoming.kind !== "batch" && event.incoming.kind !== "invalid")
      output.note(`← ${formatMessage(event.incoming.message)}`);
  };
}
