// `ctx.log`: log messages for the caller. The era decides whether the caller wants them; here they are redacted,
// checked and kept from flooding. Specification: server/utilities/logging.
import type { Link } from "../protocol/endpoint.ts";
import { type LogLevel, logLevels } from "../protocol/model.ts";
import { createRate } from "../util/rate.ts";

export interface LogEntry {
  readonly level: LogLevel;
  readonly logger?: string;
  readonly data: unknown;
}

type LogAt = (data: unknown, logger?: string) => void;

/** `log.info(data, "db")`, and the same for every level of RFC 5424. Data is any JSON value. */
export type Log = { readonly [L in LogLevel]: LogAt };

export interface LogOptions {
  /** Sees every entry before it is sent; gives back what may be sent, or nothing. */
  readonly redactLog: ((entry: LogEntry) => LogEntry | undefined) | undefined;
  readonly logsPerSecond: number;
}

export function createLog(link: Link, { redactLog, logsPerSecond }: LogOptions): Log {
  const rate = createRate({ perSecond: logsPerSecond, burst: Math.max(1, logsPerSecond) });
  const logAt =
    (level: LogLevel): LogAt =>
    (data, logger) => {
      if (!link.wantsLog(level)) return;
      const entry: LogEntry =
        logger === undefined ? { level, data: data ?? null } : { level, logger, data: data ?? null };
      const shown = redactLog ? redactLog(entry) : entry;
      if (!shown || !rate.take()) return;
      assertJson(shown.data);
      link.notify("notifications/message", { ...shown });
    };
  return Object.fromEntries(logLevels.map((level) => [level, logAt(level)])) as Log;
}

/** Found here, at the line that logs it, rather than somewhere in a transport. */
function assertJson(data: unknown): void {
  let text: string | undefined;
  try {
    text = JSON.stringify(data);
  } catch (cause) {
    throw new TypeError("Log data must be a JSON value: this one has a cycle or a BigInt", { cause });
  }
  if (text === undefined) throw new TypeError(`Log data must be a JSON value, not a ${typeof data}`);
}
