// A raw client over stdio: JSON in lines to and from a child, with as little as possible between.
import type { Program, Target } from "../case.ts";
import { initializeParams, type Message, type ToolResult } from "./http.ts";
import { type Started, type StartOptions, startProgram, stop } from "./process.ts";

interface Waiting {
  resolve(result: Message["result"]): void;
  reject(error: Error): void;
}

/** No answer for this long is a failure, never a run without end. */
const maxSilenceMs = 60_000;

export class StdioPeer {
  readonly started: Started;
  /** Notifications that came so far; may be set to 0. */
  notifications = 0;
  #parts: Buffer[] = [];
  #nextId = 1;
  readonly #waiting = new Map<number, Waiting>();
  /** Takes whole lines in place of the rest. */
  #takeLine: ((line: string) => void) | undefined;
  /** Takes answers in place of `#waiting`. */
  #takeAnswer: ((message: Message) => void) | undefined;
  #afterChunk: (() => void) | undefined;
  #failed: (error: Error) => void = () => {};

  constructor(target: Target, program: Program, options: StartOptions = {}) {
    this.started = startProgram(target, program, { ...options, stdio: ["pipe", "pipe"] });
    const { child } = this.started;
    child.stdin?.on("error", () => {});
    child.stdout?.on("data", (data: Buffer) => {
      // What is thrown here would end the driver: it belongs to whoever waits.
      try {
        this.#read(data);
      } catch (error) {
        this.#fail(error as Error);
      }
    });
    void this.started.ended.then((how) => this.#fail(new Error(`the server ended (${how}): ${this.started.stderr}`)));
  }

  get pid(): number {
    return this.started.pid;
  }

  write(text: string): void {
    this.started.child.stdin?.write(text);
  }

  request(method: string, params = "{}"): Promise<Message["result"]> {
    const id = this.#nextId++;
    return this.#bounded(
      method,
      new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        this.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
      }),
    );
  }

  async initialize(): Promise<void> {
    await this.request("initialize", initializeParams);
    this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  callTool(name: string, args: string, meta = ""): Promise<ToolResult> {
    const params = `{"name":"${name}","arguments":${args}${meta && `,"_meta":{${meta}}`}}`;
    return this.request("tools/call", params) as Promise<ToolResult>;
  }

  /** One request whose answer is given as the line that it was: for large ones. */
  requestLine(method: string, params: string): Promise<string> {
    const id = this.#nextId++;
    return this.#bounded(
      method,
      new Promise<string>((resolve, reject) => {
        this.#failed = reject;
        this.#takeLine = resolve;
        this.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
      }),
    ).finally(() => {
      this.#takeLine = undefined;
    });
  }

  /** Keeps so many calls of `echo` in flight until `count` are answered; gives how long it took, in milliseconds. */
  pipeline(count: number, inFlight: number): Promise<number> {
    const base = this.#nextId;
    this.#nextId += count;
    let sent = 0;
    let got = 0;
    return this.#bounded(
      "tools/call",
      new Promise<number>((resolve, reject) => {
        this.#failed = reject;
        const started = performance.now();
        this.#takeAnswer = (message) => {
          if ((message.result as ToolResult | undefined)?.content?.[0]?.text !== `msg-${message.id}`)
            throw new Error(`a wrong answer: ${JSON.stringify(message).slice(0, 300)}`);
          got++;
        };
        this.#afterChunk = () => {
          if (got >= count) return resolve(performance.now() - started);
          let lines = "";
          for (; sent < count && sent - got < inFlight; sent++) {
            const id = base + sent;
            lines += `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"msg-${id}"}}}\n`;
          }
          if (lines) this.write(lines);
        };
        this.#afterChunk();
      }),
    ).finally(() => {
      this.#takeAnswer = undefined;
      this.#afterChunk = undefined;
    });
  }

  async close(): Promise<void> {
    this.started.child.stdin?.end();
    await stop(this.started, 800);
  }

  #fail(error: Error): void {
    this.#failed(error);
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  async #bounded<T>(method: string, answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#fail(new Error(`${method}: no answer for ${maxSilenceMs} ms`)), maxSilenceMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  #read(data: Buffer): void {
    let from = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, from)) {
      let line: string;
      if (this.#parts.length > 0) {
        this.#parts.push(data.subarray(from, end));
        line = Buffer.concat(this.#parts).toString("utf8");
        this.#parts = [];
      } else line = data.toString("utf8", from, end);
      from = end + 1;
      // A notification may come between; answers that are asked for as lines are long, or have no method.
      const isAnswer = line.length > 10_000 || !line.includes('"method"');
      if (this.#takeLine && isAnswer) this.#takeLine(line);
      else if (line.startsWith("{")) this.#receive(JSON.parse(line) as Message);
    }
    if (from < data.length) this.#parts.push(from > 0 ? data.subarray(from) : data);
    this.#afterChunk?.();
  }

  #receive(message: Message): void {
    if (message.method !== undefined) {
      if (message.id === undefined) this.notifications++;
      else
        this.write(
          `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":{"code":-32601,"message":"not supported"}}\n`,
        );
      return;
    }
    const waiting = this.#waiting.get(message.id as number);
    if (!waiting) {
      this.#takeAnswer?.(message);
      return;
    }
    this.#waiting.delete(message.id as number);
    if (message.result) waiting.resolve(message.result);
    else waiting.reject(new Error(JSON.stringify(message.error)));
  }
}

/** Starts a target's server over stdio and opens its session. */
export async function startStdio(target: Target, options: StartOptions = {}): Promise<StdioPeer> {
  if (!target.stdio) throw new Error(`${target.name} does not serve stdio`);
  const peer = new StdioPeer(target, target.stdio, options);
  try {
    await peer.initialize();
    return peer;
  } catch (error) {
    await peer.close();
    throw error;
  }
}
