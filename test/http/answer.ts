// What came back of an HTTP request: its status, its headers, and a body that is read only when a test wants it, whole or
// event by event. Every wait is bounded, and so is what is kept.
import type { IncomingMessage } from "node:http";

export type Obj = Record<string, unknown>;

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Obj;
  readonly result?: Obj;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** One event as it stands on the wire; a member is absent where the field is. */
export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: string;
}

const waitMs = 5000;
const maxChars = 16 * 1024 * 1024;
const maxEvents = 10_000;

/** Rejects where it takes too long, which it does on no machine unless something is wrong. */
export function within<T>(promise: Promise<T>, what: string, ms = waitMs): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Answer {
  readonly status: number;
  readonly #response: IncomingMessage;
  #text = "";
  #state: "idle" | "reading" | "ended" | "cut" = "idle";
  #wake = (): void => {};
  /** Comment lines that came so far. */
  comments = 0;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.status = response.statusCode ?? 0;
    response.on("error", () => {});
  }

  header(name: string): string | undefined {
    const value = this.#response.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get headers(): IncomingMessage["headers"] {
    return this.#response.headers;
  }

  get type(): string | undefined {
    return this.header("content-type");
  }

  /** Cuts the connection. */
  drop(): void {
    this.#response.destroy();
  }

  /** Ended in order, as far as it was read. */
  get isWhole(): boolean {
    return this.#state === "ended";
  }

  /** The rest of the body. */
  async text(): Promise<string> {
    while (await this.#more());
    const text = this.#text;
    this.#text = "";
    return text;
  }

  async json(): Promise<Obj> {
    const text = await this.text();
    try {
      return JSON.parse(text) as Obj;
    } catch {
      throw new Error(`No JSON, status ${this.status}: ${text}`);
    }
  }

  /** The next event; undefined where the stream has ended. Comments are counted and passed over. */
  async next(ms?: number): Promise<SseEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end < 0) {
        if (await this.#more(ms)) continue;
        if (this.#text !== "") throw new Error(`Half an event: ${this.#text}`);
        return undefined;
      }
      const block = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 2);
      const event = this.#parse(block);
      if (event) return event;
    }
  }

  /** All events up to the end of the stream. */
  async events(): Promise<SseEvent[]> {
    const events: SseEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) {
      events.push(event);
      if (events.length > maxEvents) throw new Error("Too many events");
    }
    return events;
  }

  /** The next message, be it in JSON or in an event; undefined where there is none any more. */
  async message(ms?: number): Promise<Message | undefined> {
    if (this.type === "application/json") return (await this.json()) as unknown as Message;
    for (;;) {
      const event = await this.next(ms);
      if (!event) return undefined;
      if (event.data) return JSON.parse(event.data) as Message;
    }
  }

  /** All messages up to the end; those of an array one by one. */
  async messages(): Promise<Message[]> {
    if (this.type === "application/json") return [await this.json()].flat() as unknown as Message[];
    const events = await this.events();
    return events.flatMap(({ data }) => (data ? (JSON.parse(data) as Message) : []));
  }

  /** The one response, wherever it stands. */
  async response(): Promise<Message> {
    const responses = (await this.messages()).filter((message) => message.method === undefined);
    if (responses.length !== 1) throw new Error(`${responses.length} responses, status ${this.status}`);
    return responses[0] as Message;
  }

  async result(): Promise<Obj> {
    const { result, error } = await this.response();
    if (!result) throw new Error(`An error, status ${this.status}: ${JSON.stringify(error)}`);
    return result;
  }

  /** The code of the error, JSON or event. */
  async code(): Promise<number | undefined> {
    return (await this.response()).error?.code;
  }

  /** Settles when the other side has ended it, in order or not. */
  async ended(): Promise<void> {
    while (await this.#more()) this.#text = "";
  }

  #parse(block: string): SseEvent | undefined {
    const fields: Record<string, string> = {};
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) {
        this.comments++;
        continue;
      }
      const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
      if (!["id", "event", "data", "retry"].includes(name)) throw new Error(`No field of an event: ${line}`);
      if (name in fields) throw new Error(`Twice in one event: ${line}`);
      fields[name] = value;
    }
    return Object.keys(fields).length > 0 ? fields : undefined;
  }

  /** Waits for more of the body. False when there is none. */
  async #more(ms?: number): Promise<boolean> {
    if (this.#state === "idle") this.#read();
    if (this.#state !== "reading") return false;
    const before = this.#text.length;
    const more = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await within(more, `Nothing more came, status ${this.status}, after ${JSON.stringify(this.#text.slice(-200))}`, ms);
    return this.#text.length > before || this.#state === "reading";
  }

  #read(): void {
    this.#state = "reading";
    this.#response.setEncoding("utf8");
    this.#response.on("data", (chunk: string) => {
      this.#text += chunk;
      if (this.#text.length > maxChars) this.drop();
      this.#wake();
    });
    this.#response.on("end", () => {
      this.#state = "ended";
      this.#wake();
    });
    this.#response.on("close", () => {
      if (this.#state !== "ended") this.#state = "cut";
      this.#wake();
    });
    if (this.#response.destroyed) this.#state = "cut";
  }
}
