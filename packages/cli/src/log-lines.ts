// Log messages of a server as lines for people.
import type { ClientOptions, LogLevel } from "plenum";
import { type Output, toHarmless } from "./output.ts";

/** From the quietest on, as help shows them. The types compare them with those of the library. */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const satisfies readonly LogLevel[];

/** `level logger data`, one line each. */
export function formatLog({ level, logger, data }: { level: string; logger?: string; data: unknown }): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return toHarmless(`${level}${logger ? ` ${logger}` : ""}: ${text}`);
}

/** Options for `connect` that show log messages on stderr. */
export function createLogLines(output: Output, level: string): Pick<ClientOptions, "onLog" | "logLevel"> {
  return { logLevel: level as LogLevel, onLog: (entry) => output.note(output.paintNote("dim", formatLog(entry))) };
}
