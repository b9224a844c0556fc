// What clients of 2024-11-05 to 2025-11-25 are answered by. Loaded by the first of them: a server whose clients all speak
// 2026-07-28, as on the edge, never has it.
import type { Incoming } from "../../jsonrpc/message.ts";
import type { AuthInfo, Endpoint } from "../../protocol/endpoint.ts";
import { createSseServer, type SseServer } from "../sse/server.ts";
import type { AnsweringGround } from "./answering.ts";
import type { HttpHead } from "./exchange.ts";
import type { HttpSettings } from "./options.ts";
import type { Reply } from "./reply.ts";
import { createSessioned, type Sessioned } from "./sessioned.ts";
import { createSessionless } from "./sessionless.ts";

export interface Legacy {
  post(incoming: Incoming, head: HttpHead, auth: AuthInfo | undefined, reply: Reply): void;
  /** Absent without sessions. */
  readonly sessioned: Sessioned | undefined;
  /** HTTP+SSE, where it is served. */
  readonly sse: SseServer | undefined;
  close(graceMs: number): Promise<void>;
}

export function createLegacy(endpoint: Endpoint, settings: HttpSettings, ground: AnsweringGround): Legacy {
  const { sessions, sse: paths } = settings;
  const sessioned = sessions ? createSessioned(endpoint, settings, sessions, ground.pulse) : undefined;
  const sse = paths && sessions ? createSseServer(endpoint, settings, paths, sessions) : undefined;
  return {
    post: sessioned?.post ?? createSessionless(endpoint, settings, ground),
    sessioned,
    sse,
    async close(graceMs) {
      await Promise.all([sessioned?.close(graceMs), sse?.close(graceMs)]);
    },
  };
}
