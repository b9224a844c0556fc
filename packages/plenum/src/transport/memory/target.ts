// A server in this process as something to connect to.
import type { Target } from "../../jsonrpc/channel.ts";
import type { Endpoint, Sender } from "../../protocol/endpoint.ts";
import { type ServeOptions, serve } from "../../protocol/negotiate.ts";
import { createMemoryPair } from "./pair.ts";

export interface MemoryOptions extends ServeOptions {
  /** Who the client is, for tests of authorization. */
  readonly sender?: Sender;
}

/** Each connection is served by itself. */
export function memoryTarget(endpoint: Endpoint, options: MemoryOptions = {}): Target {
  const { sender, ...serveOptions } = options;
  return {
    name: `${endpoint.describe().info.name} in memory`,
    open() {
      const [near, far] = createMemoryPair(sender);
      serve(endpoint, far, serveOptions);
      return near;
    },
  };
}
