// The state of one sessioned connection: what the handshake agreed on and what the client asked for since. It is the
// only per-peer state in the house, and it lives and dies with its connection. There may be thousands that are idle: what
// not every client asks for is made when one does.
import type { JsonObject } from "../../jsonrpc/message.ts";
import type { Caller } from "../endpoint.ts";
import type { LogLevel, ServerCapabilities } from "../model.ts";
import type { Revision } from "../revisions.ts";

export interface Session {
  readonly revision: Revision;
  readonly client: Caller;
  /** As declared in the handshake. They hold for the whole session, whatever is registered later. */
  readonly capabilities: ServerCapabilities;
  /** URIs whose updates the client wants. */
  subscriptions: Set<string> | undefined;
  /** Pages that the client was asked to visit, until it is told that they are dealt with. */
  pages: Set<string> | undefined;
  /** The answer to the last question for roots. Another object when they are others: what was asked before goes nowhere. */
  roots: { answer?: JsonObject } | undefined;
  logLevel: LogLevel;
  /** The client has said `notifications/initialized`: until then it is sent no request. */
  initialized: boolean;
  /** To be called when it says so. */
  waiting: Set<() => void> | undefined;
}
