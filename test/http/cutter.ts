// A proxy that cuts connections: it lets bytes through in both directions, and of the answers that it is told to cut only so
// many. Whether the server learns of it at once is part of the plan.
import { createServer, connect as openSocket, type Socket } from "node:net";

/** One HTTP exchange on its way. */
export interface Passage {
  readonly verb: string;
  /** What the client has sent: head and body. */
  readonly request: string;
  /** What was let through of the answer. */
  passed: Buffer;
}

export interface Cut {
  /** Bytes of the answer that are let through. An answer that is shorter is not cut. */
  readonly afterBytes: number;
  /** `end`: a proper end of the connection in the middle of the answer; `destroy`: both directions at once; `reset`: by RST. */
  readonly how: "end" | "destroy" | "reset";
  /** The server's connection stays open, and what it sends goes nowhere. */
  readonly isUnnoticed: boolean;
  /** How long the client has to read what was let through, before it hears of the end. */
  readonly pauseMs: number;
}

export interface Cutter {
  readonly port: number;
  readonly url: string;
  /** In the order in which they were answered. */
  readonly passages: Passage[];
  /** How many answers were cut. */
  cuts(): number;
  /** Asked when the first byte of an answer comes. */
  decide(how: (passage: Passage) => Cut | undefined): void;
  close(): Promise<void>;
}

const start = /^(GET|POST|DELETE) \//;

/** Opens a proxy on 127.0.0.1 in front of a server that listens there. */
export async function openCutter(serverPort: number): Promise<Cutter> {
  const passages: Passage[] = [];
  const sockets = new Set<Socket>();
  let plan: (passage: Passage) => Cut | undefined = () => undefined;
  let count = 0;

  const server = createServer({ noDelay: true }, (near) => {
    const far = openSocket({ port: serverPort, host: "127.0.0.1", noDelay: true });
    let asked = "";
    let passage: Passage | undefined;
    let cut: Cut | undefined;
    let isCut = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    near.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      // A client sends its next request only when the answer to the last one is there.
      if (start.test(text)) {
        asked = "";
        passage = undefined;
      }
      asked += text;
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (isCut) return;
      if (!passage) {
        passage = { verb: asked.slice(0, asked.indexOf(" ")), request: asked, passed: Buffer.alloc(0) };
        passages.push(passage);
        cut = plan(passage);
      }
      const room = (cut?.afterBytes ?? Number.POSITIVE_INFINITY) - passage.passed.length;
      const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
      passage.passed = Buffer.concat([passage.passed, part]);
      if (part.length > 0) near.write(part);
      if (cut && part.length < chunk.length) end(cut);
    });
    near.on("close", () => {
      if (!isCut) far.destroy();
    });
    near.on("end", () => {
      if (!isCut) far.end();
    });
    far.on("close", () => {
      if (!isCut) near.destroy();
    });
    far.on("end", () => {
      if (!isCut) near.end();
    });

    function end({ how, isUnnoticed, pauseMs }: Cut): void {
      isCut = true;
      count++;
      // What goes nowhere is read all the same: the server must not think that its client is slow.
      if (!isUnnoticed) far.destroy();
      const finish = (): void => {
        if (how === "end") near.end();
        else if (how === "reset") near.resetAndDestroy();
        else near.destroy();
      };
      if (pauseMs === 0) finish();
      // A few turns besides: on a busy machine the time may be over before a client in this process had its own.
      else setTimeout(() => setImmediate(() => setImmediate(() => setImmediate(finish))), pauseMs);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    passages,
    cuts: () => count,
    decide(how) {
      plan = how;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** So many offsets over the whole, and besides those at which something begins or ends, and those next to them. */
export function sample(bytes: Buffer, evenly: number): number[] {
  const offsets = new Set<number>();
  for (let i = 0; i < evenly; i++) offsets.add(Math.floor((i * bytes.length) / evenly));
  const text = bytes.toString("latin1");
  const headEnd = text.indexOf("\r\n\r\n") + 4;
  const places = [0, headEnd, bytes.length];
  for (const mark of ["id: ", "event: ", "data: ", "\n\n", "\r\n", "\xc3"]) {
    const first = text.indexOf(mark, headEnd);
    const second = text.indexOf(mark, first + 1);
    places.push(first, second, text.lastIndexOf(mark));
  }
  for (const place of places) for (const near of [-1, 0, 1, 2]) offsets.add(place + near);
  return [...offsets].filter((at) => at >= 0 && at < bytes.length).sort((a, b) => a - b);
}

/** Cuts of every kind, in turn, each with time to read what came before. */
export const toCut = (afterBytes: number, turn: number): Cut => ({
  afterBytes,
  how: turn % 2 === 0 ? "end" : "destroy",
  isUnnoticed: turn % 3 === 0,
  pauseMs: 3,
});
