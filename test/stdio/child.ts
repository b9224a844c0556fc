// A server in a child process, with its streams in hand: lines in, messages out, and how it ended.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, expect } from "vitest";

export interface ChildMessage {
  readonly jsonrpc?: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const running = new Set<Child>();

afterEach(async () => {
  const children = [...running];
  for (const child of children) child.process.kill("SIGKILL");
  await Promise.all(children.map((child) => child.exit));
});

export class Child {
  readonly process: ChildProcessWithoutNullStreams;
  /** When it has exited and its streams have been read to their ends. */
  readonly exit: Promise<Exit>;
  readonly chunks: Buffer[] = [];
  stderr = "";
  #nextId = 1;
  #changed: (() => void)[] = [];
  #isOver = false;

  constructor(file: string, env: Record<string, string>) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    this.process = spawn(process.execPath, ["--conditions=plenum-source", "--import", "tsx", path], {
      cwd: root,
      env: { ...process.env, NODE_NO_WARNINGS: "1", ...env },
      stdio: "pipe",
    });
    running.add(this);
    this.process.stdin.on("error", () => {});
    this.process.stdout.on("data", (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.#wake();
    });
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    this.exit = new Promise((resolve) => {
      this.process.once("close", (code, signal) => {
        this.#isOver = true;
        running.delete(this);
        this.#wake();
        resolve({ code, signal });
      });
    });
  }

  /** What it wrote, read strictly: nothing but UTF-8, and every line a message. */
  get messages(): ChildMessage[] {
    const bytes = Buffer.concat(this.chunks);
    const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(whole);
    return text.split("\n").flatMap((line) => {
      if (line === "") return [];
      const message = JSON.parse(line) as ChildMessage;
      expect(message.jsonrpc, line.slice(0, 200)).toBe("2.0");
      return message;
    });
  }

  write(text: string): void {
    this.process.stdin.write(text);
  }

  /** Sends a request of 2026-07-28 and gives its id. */
  start(method: string, params: Record<string, unknown> = {}): number {
    const id = this.#nextId++;
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      progressToken: id,
    };
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })}\n`);
    return id;
  }

  call(name: string, args: Record<string, unknown> = {}): number {
    return this.start("tools/call", { name, arguments: args });
  }

  /** The answer to a request, when it has come. */
  async answer(id: string | number): Promise<ChildMessage> {
    return (await this.#until(`the answer to ${id}`, () =>
      this.messages.find((message) => message.id === id && message.method === undefined),
    )) as ChildMessage;
  }

  /** The text that a tool gave. */
  async text(id: string | number): Promise<unknown> {
    const { result } = await this.answer(id);
    return (result?.content as { text: string }[] | undefined)?.[0]?.text;
  }

  /** Waits for a notification. */
  notification(method: string): Promise<unknown> {
    return this.#until(method, () => this.messages.find((message) => message.method === method));
  }

  /** Waits for words on stderr. */
  async logged(words: string): Promise<void> {
    await this.#until(`"${words}" on stderr`, () => this.stderr.includes(words) || undefined);
  }

  async #until(what: string, look: () => unknown): Promise<unknown> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`The server ended before ${what} came. Its stderr: ${this.stderr}`);
      await new Promise<void>((resolve) => this.#changed.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}

/** Starts one of the fixtures, and waits until it serves. */
export async function startWorkshop(env: Record<string, string> = {}): Promise<Child> {
  const child = new Child("fixtures/workshop.ts", env);
  await child.logged("ready");
  return child;
}
