// A client of raw sockets: what no HTTP library would send can be sent, in pieces and at any pace, and the answer is read
// by hand.
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** By lower-case names; several of one name are joined by ", ". */
  readonly headers: { readonly [name: string]: string | undefined };
  readonly body: string;
}

export interface RawEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

const patienceMs = 20_000;

export class Wire {
  readonly socket: Socket;
  /** Settles when the connection is over, however it ended. */
  readonly closed: Promise<void>;
  /** What has come and is not taken yet, one character a byte. */
  text = "";
  isClosed = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      this.text += chunk.toString("latin1");
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.isClosed = true;
        resolve();
        this.#wake();
      });
    });
  }

  write(data: string | Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(data);
  }

  /** Waits until `find` gives something; undefined when the connection ends without. */
  async until<T>(find: (text: string) => T | undefined): Promise<T | undefined> {
    const end = Date.now() + patienceMs;
    for (;;) {
      const found = find(this.text);
      if (found !== undefined || this.isClosed) return found;
      const left = end - Date.now();
      if (left <= 0) throw new Error(`Nothing came in ${patienceMs} ms. So far: ${this.text.slice(0, 500)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** The head of the next answer; interim ones are passed over. Undefined when the connection ends before. */
  async head(): Promise<Omit<RawAnswer, "body"> | undefined> {
    for (;;) {
      const end = await this.until((text) => (text.includes("\r\n\r\n") ? text.indexOf("\r\n\r\n") : undefined));
      if (end === undefined) return undefined;
      const [first = "", ...lines] = this.text.slice(0, end).split("\r\n");
      this.text = this.text.slice(end + 4);
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
      if (status < 200) continue;
      const headers: Record<string, string> = {};
      for (const line of lines) {
        const name = line.slice(0, line.indexOf(":")).toLowerCase();
        const value = line.slice(line.indexOf(":") + 1).trim();
        headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
      }
      return { status, headers };
    }
  }

  /** The next answer, whole. Undefined when the connection ends before its head is there. */
  async answer(method = "POST"): Promise<RawAnswer | undefined> {
    const head = await this.head();
    if (!head) return undefined;
    const length = head.headers["content-length"];
    let body = "";
    if (method === "HEAD" || head.status === 204 || head.status === 304) body = "";
    else if (head.headers["transfer-encoding"] === "chunked") body = await this.#chunks();
    else if (length !== undefined) {
      const size = Number(length);
      await this.until((text) => (text.length >= size ? true : undefined));
      body = this.text.slice(0, size);
      this.text = this.text.slice(size);
    } else {
      await this.closed;
      body = this.text;
      this.text = "";
    }
    return { ...head, body: Buffer.from(body, "latin1").toString("utf8") };
  }

  /** The next chunk; an empty one ends the body. Undefined when the connection ends before. */
  async chunk(): Promise<string | undefined> {
    return this.until((text) => {
      const end = text.indexOf("\r\n");
      if (end < 0) return undefined;
      const size = Number.parseInt(text.slice(0, end), 16);
      if (text.length < end + 4 + size) return undefined;
      this.text = text.slice(end + 4 + size);
      return text.slice(end + 2, end + 2 + size);
    });
  }

  async #chunks(): Promise<string> {
    let whole = "";
    for (;;) {
      const chunk = await this.chunk();
      if (!chunk) return whole;
      whole += chunk;
    }
  }

  close(): void {
    this.socket.destroy();
  }

  /** Cuts the connection with a reset, not in order. */
  cut(): void {
    this.socket.resetAndDestroy();
  }
}

export function openWire(port: number): Promise<Wire> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => resolve(new Wire(socket)));
  });
}

/** Sends bytes on a connection of their own, and gives the first answer; undefined when there is none. */
export async function sendRaw(port: number, data: string | Uint8Array): Promise<RawAnswer | undefined> {
  const wire = await openWire(port);
  wire.write(data);
  try {
    return await wire.answer(typeof data === "string" ? data.slice(0, data.indexOf(" ")) : "POST");
  } finally {
    wire.close();
  }
}

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** The bytes of a request. A header without a name is written as it stands. */
export function compose(method: string, target: string, headers: HeaderList, body = "", version = "1.1"): string {
  const lines = headers.map(([name, value]) => (name === "" ? value : `${name}: ${value}`));
  return [`${method} ${target} HTTP/${version}`, ...lines, "", body].join("\r\n");
}

/** The events in the text of a stream; comments are passed over. */
export function eventsIn(text: string): RawEvent[] {
  return text.split("\n\n").flatMap((block) => {
    const fields = block.split("\n").filter((line) => line !== "" && !line.startsWith(":"));
    if (fields.length === 0) return [];
    return [Object.fromEntries(fields.map((line) => [line.split(": ", 1)[0], line.slice(line.indexOf(": ") + 2)]))];
  });
}
