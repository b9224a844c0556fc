// The text of server-sent events. JSON text has no line breaks, so each message is one data line.

/** @param id absent where the stream cannot be resumed */
export function formatEvent(data: string, id?: string, event = "message"): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** An event that carries nothing but its id, and when to come back: a client that has it can resume the stream. */
export function formatPrimer(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

export function formatRetry(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}

/** A line that clients skip: it shows everybody on the way that the stream is alive. */
export const keepAlive = ":\n\n";
