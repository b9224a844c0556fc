// An explorer of a SQLite database: the resource `schema://main` says what is in it, the tool `query_data` asks it.
// It only reads, unless told otherwise, and a query may neither run for ever nor answer without end.
// Run it on a file, or without one on a small sample: node --conditions=plenum-source --import tsx examples/sqlite-explorer.ts [file]
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import { devNull, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type * as sqlite from "node-sqlite3-wasm";
import { createServer, McpError, ToolError } from "plenum";
import { serveStdio } from "plenum/stdio";
import { z } from "zod";

const require = createRequire(import.meta.url);
const { Database } = require("node-sqlite3-wasm") as typeof sqlite;

export interface ExplorerOptions {
  /** Let queries change the database. Default false. */
  readonly write?: boolean;
  /** Rows of one answer. Default 100. */
  readonly maxRows?: number;
  /** Size of one answer, as JSON. Default 200 000. */
  readonly maxBytes?: number;
  /** A query that runs longer is stopped. Default 2000. */
  readonly timeoutMs?: number;
}

export function createExplorer(path: string, options: ExplorerOptions = {}) {
  const { write = false, maxRows = 100, maxBytes = 200_000, timeoutMs = 2000 } = options;
  const server = createServer({
    name: "sqlite-explorer",
    version: "1.0.0",
    instructions: "Read schema://main before you write a query.",
    lifespan: () => new QueryThread({ database: resolve(path), write }, timeoutMs),
  });

  server.resource(
    "schema://main",
    { name: "schema", description: "The CREATE statements of all tables and views", mimeType: "application/sql" },
    async (_, { lifespan, signal }) => {
      const sql =
        "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite#_%' ESCAPE '#' ORDER BY type, name";
      const answer = await lifespan.run({ sql, maxRows: 10_000, maxBytes: 2_000_000 }, signal);
      if ("problem" in answer) throw new McpError("internal_error", explain(answer.problem, write));
      const statements = answer.rows.map((row) => `${row.sql};`);
      if (answer.cut) statements.push("-- and more");
      return statements.join("\n\n");
    },
  );

  const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
  server.tool(
    "query_data",
    {
      title: write ? "Query or change the database" : "Query the database",
      description: [
        `Run one statement in SQLite's SQL${write ? "" : ", which may only read"}.`,
        "Put values into params, never into the SQL: [1, 2] for ?, { name: 1 } for :name.",
        "Columns of the same name need different ones, with AS.",
        "An integer beyond 2^53 comes as text, a blob as { base64 }.",
        `At most ${maxRows} rows are given, and a query is stopped after ${timeoutMs / 1000} s.`,
      ].join(" "),
      input: z.object({
        sql: z.string().max(100_000).describe("One SQL statement"),
        params: z
          .union([z.array(value), z.record(z.string(), value)])
          .optional()
          .describe("A list for ?, an object for :name"),
      }),
      output: z.object({
        rows: z.array(z.record(z.string(), z.unknown())),
        changes: z.number().optional().describe("How many rows were changed"),
        note: z.string().optional().describe("What is missing from the answer"),
      }),
      annotations: { readOnlyHint: !write, destructiveHint: write, openWorldHint: false },
    },
    async ({ sql, params }, { lifespan, signal }) => {
      const answer = await lifespan.run({ sql, params, maxRows, maxBytes }, signal);
      if ("problem" in answer) throw new ToolError(explain(answer.problem, write));
      const { rows, cut, changes, schemaChanged } = answer;
      if (schemaChanged) server.resourceUpdated("schema://main");
      return {
        rows,
        ...(write && { changes }),
        ...(cut === "rows" && {
          note: `There are more than these ${maxRows} rows. Narrow the query, or go on with LIMIT and OFFSET.`,
        }),
        ...(cut === "bytes" && {
          note: `The answer was cut at ${maxBytes} bytes. Select fewer columns, or parts of them with substr().`,
        }),
      };
    },
  );

  return server;
}

/** SQLite's own words, and what to do. */
function explain(problem: string, write: boolean): string {
  const hints: readonly (readonly [RegExp, string])[] = [
    [/no such (table|column)/, "Read schema://main for what there is."],
    [/readonly/, write ? "The file may not be written." : "This explorer only reads: use SELECT."],
    [/binding|index out of range/, "Give params a list with a value for each ?, or an object with one for each :name."],
    [/unable to open database: /, "No other file than this database can be used."],
    [/could not open/i, "The file is missing, or may not be read."],
    [/locked/, `Another program is using it. If none is, delete the folder that ends in ".lock" beside it.`],
    [/syntax error|incomplete input|unrecognized token/, "Write it in SQLite's SQL."],
  ];
  const hint = hints.find(([pattern]) => pattern.test(problem))?.[1];
  return hint === undefined ? problem : `${problem.replace(/\.$/, "")}. ${hint}`;
}

interface Query {
  readonly sql: string;
  readonly params?: sqlite.BindValues | undefined;
  readonly maxRows: number;
  readonly maxBytes: number;
}

interface Rows {
  readonly rows: { readonly [column: string]: unknown }[];
  /** Why there are not all of them. */
  readonly cut?: "rows" | "bytes";
  readonly changes: number;
  readonly schemaChanged: boolean;
}

type Answer = Rows | { readonly problem: string };

interface ThreadSettings {
  readonly database: string;
  readonly write: boolean;
}

interface ThreadData extends ThreadSettings {
  readonly isQueryThread: true;
  /** 1 while the thread holds the lock of the database. */
  readonly held: Int32Array;
}

/** Runs queries one after another in a thread of its own: SQLite does not stop by itself, a thread can be ended. */
class QueryThread {
  readonly #settings: ThreadSettings;
  readonly #timeoutMs: number;
  readonly #held = new Int32Array(new SharedArrayBuffer(4));
  #worker: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: ThreadSettings, timeoutMs: number) {
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
  }

  run(query: Query, signal: AbortSignal): Promise<Answer> {
    const answer = this.#last.then(() => this.#run(query, signal));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #run(query: Query, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    // A thread that could not be started is tried again by the next query.
    this.#worker ??= this.#start().catch((error: unknown) => {
      this.#worker = undefined;
      throw error;
    });
    const worker = await this.#worker;
    const ended = new AbortController();
    const late = `The query was stopped after ${this.#timeoutMs / 1000} s. Narrow it with WHERE or LIMIT, or see EXPLAIN QUERY PLAN.`;
    const timer = setTimeout(() => ended.abort(new ToolError(late)), this.#timeoutMs);
    const onAbort = () => ended.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    try {
      worker.postMessage(query);
      const [answer] = await once(worker, "message", { signal: ended.signal });
      return answer as Answer;
    } catch (error) {
      await this.#stop(worker);
      throw ended.signal.aborted ? ended.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #start(): Promise<Worker> {
    const data: ThreadData = { ...this.#settings, held: this.#held, isQueryThread: true };
    // This same file. Node 20 gives a thread no TypeScript by itself, so it is told to load tsx first.
    const [tsx, self] = [import.meta.resolve("tsx/esm/api"), import.meta.url].map((url) => JSON.stringify(url));
    const code = `import(${tsx}).then(({ register }) => (register(), import(${self})))`;
    const worker = new Worker(code, { eval: true, workerData: data, execArgv: ["--conditions=plenum-source"] });
    worker.unref();
    await once(worker, "message");
    return worker;
  }

  async #stop(worker: Worker): Promise<void> {
    this.#worker = undefined;
    await worker.terminate();
    // The lock is a folder, which outlives the thread. What a stopped statement has written SQLite takes back from its journal.
    if (Atomics.exchange(this.#held, 0, 0) === 1) fs.rmSync(lockOf(this.#settings.database), { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = await this.#worker;
    if (worker) await this.#stop(worker);
  }
}

const lockOf = (database: string) => `${database}.lock`;

/** The thread's side: one connection per query, so that none leaves anything behind for the next. */
function answerQueries({ database, write, held }: ThreadData): void {
  confine(database, write, held);
  parentPort?.on("message", (query: Query) => {
    let answer: Answer;
    try {
      const db = new Database(database, { readOnly: !write, fileMustExist: true });
      try {
        answer = runQuery(db, query, write);
      } finally {
        db.close();
      }
    } catch (error) {
      answer = { problem: (error as Error).message };
    }
    parentPort?.postMessage(answer);
  });
  parentPort?.postMessage("ready");
}

/**
 * Lets SQLite, which uses `node:fs`, see this database and nothing else, in this thread alone. Even a connection that
 * only reads could otherwise ATTACH any file, and VACUUM INTO a new one.
 */
function confine(database: string, write: boolean, held: Int32Array): void {
  const { existsSync, openSync, mkdirSync, rmdirSync, unlinkSync } = fs;
  const log = `${database}-wal`;
  const files = new Set([database, `${database}-journal`, log]);
  const check = (file: string): void => {
    if (!files.has(file)) throw new Error(`Not this database: ${file}`);
  };
  const writing = {
    openSync: (file: string, flags: number | string, mode?: number): number => {
      if (file !== dirname(database) || flags !== "r") check(file);
      return openSync(file, flags, mode);
    },
    unlinkSync: (file: string): void => {
      check(file);
      unlinkSync(file);
    },
    mkdirSync: (lock: string): void => {
      mkdirSync(lock);
      Atomics.store(held, 0, 1);
    },
    rmdirSync: (lock: string): void => {
      rmdirSync(lock);
      Atomics.store(held, 0, 0);
    },
  };
  // Reading respects the lock of another and takes none: nothing is written beside the database either.
  const reading = {
    openSync: (file: string): number => {
      check(file);
      return openSync(file === log && !existsSync(log) ? devNull : file, "r");
    },
    unlinkSync: (): void => {},
    mkdirSync: (lock: string): void => {
      if (existsSync(lock)) throw Object.assign(new Error("Locked"), { code: "EEXIST" });
    },
    rmdirSync: (): void => {},
  };
  Object.assign(fs, write ? writing : reading);
}

function runQuery(db: sqlite.Database, { sql, params, maxRows, maxBytes }: Query, write: boolean): Answer {
  // Exclusive, because a database in WAL mode wants memory that is shared between processes, which is not to be had here.
  db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA trusted_schema = OFF; PRAGMA query_only = ${write ? "OFF" : "ON"}`);
  const number = (expression: string) => Number(Object.values(db.get(expression) ?? {})[0]);
  const schemaBefore = number("PRAGMA schema_version");
  const statement = db.prepare(sql);
  let cut: Rows["cut"];
  const rows: Rows["rows"] = [];
  try {
    if (hasMore(db, sql)) return { problem: "This is more than one statement. Send them one by one." };
    let bytes = 0;
    for (const row of statement.iterate(named(params, sql))) {
      if (rows.length === maxRows) cut = "rows";
      const values = Object.values(row) as sqlite.SQLiteValue[];
      bytes += values.reduce((sum: number, value) => sum + sizeOf(value), JSON.stringify(Object.keys(row)).length);
      if (bytes > maxBytes) cut ??= "bytes";
      if (cut) break;
      rows.push(Object.fromEntries(Object.keys(row).map((column, at) => [column, toJson(values[at] ?? null)])));
    }
  } finally {
    statement.finalize();
  }
  return {
    rows,
    ...(cut && { cut }),
    changes: number("SELECT total_changes()"),
    schemaChanged: number("PRAGMA schema_version") !== schemaBefore,
  };
}

/** SQLite prepares the first statement and passes over the rest. Whether there is a rest, it is asked itself. */
function hasMore(db: sqlite.Database, sql: string): boolean {
  const prepares = (text: string): boolean | "nothing" => {
    try {
      db.prepare(text).finalize();
      return true;
    } catch (error) {
      return (error as Error).message === "Nothing to prepare" && "nothing";
    }
  };
  for (let end = sql.indexOf(";"); end >= 0; end = sql.indexOf(";", end + 1)) {
    // What follows is passed over only if the statement ends here, and breaks it if this is within a text or a comment.
    if (prepares(`${sql.slice(0, end + 1)}\n*/)`) === true)
      return prepares(sql.slice(end + 1).replace(/^[\s;]+/, "")) !== "nothing";
  }
  return false;
}

/** Parameters may be named without the mark that they have in the statement. */
function named(params: sqlite.BindValues | undefined, sql: string): sqlite.BindValues | undefined {
  if (params === null || typeof params !== "object" || Array.isArray(params) || params instanceof Uint8Array)
    return params;
  const mark = (name: string) => [":", "@", "$"].find((sign) => sql.includes(sign + name)) ?? ":";
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [/^[:@$]/.test(name) ? name : mark(name) + name, value]),
  );
}

function sizeOf(value: sqlite.SQLiteValue): number {
  if (typeof value === "string") return value.length;
  return value instanceof Uint8Array ? Math.ceil((value.length * 4) / 3) : 8;
}

function toJson(value: sqlite.SQLiteValue): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  // SQLite has infinities, JSON has not.
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

function makeSample(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "sqlite-explorer-"));
  process.once("exit", () => fs.rmSync(folder, { recursive: true }));
  const path = join(folder, "library.db");
  const db = new Database(path);
  db.exec(`
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, author INTEGER REFERENCES author);
    CREATE VIEW shelf AS SELECT title, name AS author, year FROM book JOIN author ON author.id = book.author;
    INSERT INTO author VALUES (1, 'Mary Shelley'), (2, 'Jules Verne');
    INSERT INTO book VALUES (1, 'Frankenstein', 1818, 1), (2, 'The Last Man', 1826, 1), (3, 'The Mysterious Island', 1875, 2);
  `);
  db.close();
  return path;
}

const threadData = workerData as ThreadData | null;
if (!isMainThread && threadData?.isQueryThread) answerQueries(threadData);
else if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const write = process.argv.includes("--write");
  const path = process.argv.slice(2).find((argument) => argument !== "--write");
  if (path !== undefined && !fs.existsSync(path)) {
    console.error(`There is no file ${path}.`);
    process.exitCode = 1;
  } else serveStdio(createExplorer(path ?? makeSample(), { write }));
}
