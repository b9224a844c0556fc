// The SQLite explorer reads what it is asked for and nothing else, in the oldest and in the newest revision, and over stdio.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Database } from "node-sqlite3-wasm";
import type { Revision } from "plenum";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { createExplorer, type ExplorerOptions } from "../../examples/sqlite-explorer.ts";
import { root } from "../house/source.ts";
import { type Obj, openPeer, type Peer } from "../suites/peer.ts";

const folder = mkdtempSync(join(tmpdir(), "plenum-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;

/** A database of its own, alone in its folder. */
function makeDatabase(): string {
  const path = join(mkdtempSync(join(folder, `${++made}-`)), "pets.db");
  const db = new Database(path);
  db.exec(`
    CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL);
    CREATE VIEW heavy AS SELECT * FROM pet WHERE weight > 10;
    CREATE INDEX pet_name ON pet (name);
    INSERT INTO pet VALUES (1, 'Rex', 31.5), (2, 'Tom', 4), (3, 'O''Hara', NULL);
  `);
  db.close();
  return path;
}

/** What lies beside the database, and it. */
const beside = (path: string) => readdirSync(join(path, ".."));

async function open(path: string, revision: Revision, options?: ExplorerOptions): Promise<Peer> {
  const server = createExplorer(path, options);
  onTestFinished(() => server.close());
  return openPeer(server, revision);
}

/** What the tool says: its JSON where it did well, else the text of the problem. */
async function query(peer: Peer, sql: string, params?: unknown): Promise<Obj | string> {
  const args = { sql, ...(params !== undefined && { params }) };
  const { content, isError } = await peer.call("tools/call", { name: "query_data", arguments: args });
  const [{ text }] = content as [{ text: string }];
  return isError ? text : (JSON.parse(text) as Obj);
}

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";

describe.each(["2024-11-05", "2025-11-25", "2026-07-28"] as const)("examples/sqlite-explorer.ts in %s", (revision) => {
  test("says what tables and views there are", async () => {
    const peer = await open(makeDatabase(), revision);
    const { resources } = await peer.call("resources/list");
    expect(resources).toMatchObject([{ uri: "schema://main", mimeType: "application/sql" }]);
    const { contents } = await peer.call("resources/read", { uri: "schema://main" });
    const [{ text }] = contents as [{ text: string }];
    expect(text).toBe(
      "CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL);\n\n" +
        "CREATE VIEW heavy AS SELECT * FROM pet WHERE weight > 10;",
    );
  });

  test("answers a query", async () => {
    const peer = await open(makeDatabase(), revision);
    const { tools } = await peer.call("tools/list");
    expect(tools).toMatchObject([{ name: "query_data", inputSchema: { required: ["sql"] } }]);
    expect(await query(peer, "SELECT name FROM heavy")).toEqual({ rows: [{ name: "Rex" }] });
    expect(await query(peer, "SELECT name FROM pet WHERE id > 9;  -- none")).toEqual({ rows: [] });
  });

  test("binds parameters, by place and by name", async () => {
    const peer = await open(makeDatabase(), revision);
    const byPlace = "SELECT id FROM pet WHERE name = ? AND weight > ?";
    expect(await query(peer, byPlace, ["Rex", 30])).toEqual({ rows: [{ id: 1 }] });
    for (const [sql, params] of [
      ["SELECT id FROM pet WHERE name = :name", { name: "O'Hara" }],
      ["SELECT id FROM pet WHERE name = :name", { ":name": "O'Hara" }],
      ["SELECT id FROM pet WHERE name = $name", { name: "O'Hara" }],
      ["SELECT id FROM pet WHERE name = @name AND weight IS :weight", { name: "O'Hara", weight: null }],
    ] as const)
      expect(await query(peer, sql, params), sql).toEqual({ rows: [{ id: 3 }] });
    expect(await query(peer, "SELECT :a AS a", { b: 1 })).toMatch(/^Unknown binding parameter: ":b". Give params/);
    expect(await query(peer, "SELECT ? AS a", [1, 2])).toMatch(/out of range. Give params/);
  });

  test("what is bound stays data", async () => {
    const path = makeDatabase();
    const peer = await open(path, revision, { write: true });
    const evil = "x' OR 1=1; DROP TABLE pet; --";
    expect(await query(peer, "SELECT id FROM pet WHERE name = ?", [evil])).toEqual({ rows: [], changes: 0 });
    expect(await query(peer, "SELECT :v AS v", { v: evil })).toEqual({ rows: [{ v: evil }], changes: 0 });
    expect(await query(peer, "SELECT count(*) AS n FROM pet")).toEqual({ rows: [{ n: 3 }], changes: 0 });
  });

  test("says in SQLite's words what is wrong, and what to do", async () => {
    const peer = await open(makeDatabase(), revision);
    expect(await query(peer, "SELECT * FROM dog")).toBe("no such table: dog. Read schema://main for what there is.");
    expect(await query(peer, "SELEC 1")).toBe(`near "SELEC": syntax error. Write it in SQLite's SQL.`);
    expect(await query(peer, "")).toBe("Nothing to prepare");
  });
});

describe("what is only read", () => {
  test("SQLite itself refuses to write", async () => {
    const path = makeDatabase();
    const before = readFileSync(path);
    const peer = await open(path, "2025-11-25");
    for (const sql of [
      "INSERT INTO pet (name) VALUES ('Ann')",
      "UPDATE pet SET name = 'Ann' RETURNING *",
      "DELETE FROM pet",
      "DROP TABLE pet",
      "CREATE TABLE t (a)",
      "CREATE TEMP TABLE t (a)",
      "WITH x AS (SELECT 1) INSERT INTO pet (name) SELECT 'Ann' FROM x",
      "PRAGMA user_version = 5",
      "PRAGMA journal_mode = WAL",
      "BEGIN IMMEDIATE",
      "VACUUM",
      "ANALYZE",
    ])
      expect(await query(peer, sql), sql).toBe(
        "attempt to write a readonly database. This explorer only reads: use SELECT.",
      );
    // To explain is not to do.
    expect(await query(peer, "EXPLAIN DELETE FROM pet")).toHaveProperty("rows");
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(beside(path)).toEqual(["pets.db"]);
  });

  test("no pragma opens the door to the next query", async () => {
    const path = makeDatabase();
    const peer = await open(path, "2025-11-25");
    for (const sql of ["PRAGMA query_only = OFF", "PRAGMA writable_schema = ON", "BEGIN"])
      expect(await query(peer, sql), sql).toHaveProperty("rows");
    expect(await query(peer, "CREATE TEMP TABLE t (a)")).toMatch(/readonly/);
    expect(await query(peer, "DELETE FROM sqlite_schema")).toBe("table sqlite_master may not be modified");
    expect(beside(path)).toEqual(["pets.db"]);
  });

  test.each([false, true])("no other file is read or made (write: %s)", async (write) => {
    const [path, other] = [makeDatabase(), makeDatabase()];
    const peer = await open(path, "2025-11-25", { write });
    expect(await query(peer, `ATTACH '${other}' AS other`)).toMatch(/^unable to open database: .* No other file/);
    expect(await query(peer, `ATTACH '${path}-new' AS other`)).toMatch(/^unable to open database/);
    expect(await query(peer, `VACUUM INTO '${path}-copy'`)).toMatch(/^unable to open database/);
    expect(beside(path)).toEqual(["pets.db"]);
  });

  test("is read while nothing is written beside it, and the lock of another is respected", async () => {
    const path = makeDatabase();
    const peer = await open(path, "2025-11-25");
    const writer = new Database(path);
    writer.exec("BEGIN IMMEDIATE");
    expect(await query(peer, "SELECT 1 AS one FROM pet")).toMatch(/^database is locked. Another program/);
    writer.exec("ROLLBACK");
    writer.close();
    expect(await query(peer, "SELECT 1 AS one FROM pet LIMIT 1")).toEqual({ rows: [{ one: 1 }] });
  });

  test("may be in WAL mode", async () => {
    const path = makeDatabase();
    const db = new Database(path);
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; INSERT INTO pet (name) VALUES ('Ann')");
    db.close();
    const peer = await open(path, "2025-11-25");
    expect(await query(peer, "SELECT count(*) AS n FROM pet")).toEqual({ rows: [{ n: 4 }] });
    expect(await query(peer, "DELETE FROM pet")).toMatch(/readonly/);
    expect(beside(path)).toEqual(["pets.db"]);
    const writer = await open(path, "2025-11-25", { write: true });
    expect(await query(writer, "DELETE FROM pet WHERE id = 4")).toEqual({ rows: [], changes: 1 });
    expect(await query(peer, "SELECT count(*) AS n FROM pet")).toEqual({ rows: [{ n: 3 }] });
  });
});

describe("one statement", () => {
  test("and no more", async () => {
    const peer = await open(makeDatabase(), "2025-11-25");
    for (const sql of [
      "SELECT 1; SELECT 2",
      "SELECT 1;;SELECT 2",
      "SELECT ';' ; DROP TABLE pet",
      "SELECT 1 /* ; */; nonsense",
      "SELECT 1; /* a */ SELECT 2 -- b",
    ])
      expect(await query(peer, sql), sql).toBe("This is more than one statement. Send them one by one.");
  });

  test("with whatever follows it that is none", async () => {
    const peer = await open(makeDatabase(), "2025-11-25");
    for (const sql of [
      "SELECT 1 AS a;",
      "SELECT 1 AS a; -- b",
      "SELECT 1 AS a ;;\n",
      "SELECT /* ; */ 1 AS a -- ;",
      "SELECT 1 AS a /* ;",
    ])
      expect(await query(peer, sql), sql).toEqual({ rows: [{ a: 1 }] });
  });

  test("a semicolon in a text or in a trigger ends nothing", async () => {
    const peer = await open(makeDatabase(), "2025-11-25", { write: true });
    expect(await query(peer, "SELECT ';' AS a, 'b;c' AS b")).toMatchObject({ rows: [{ a: ";", b: "b;c" }] });
    const trigger = "CREATE TRIGGER t AFTER INSERT ON pet BEGIN SELECT 1; SELECT 2; END;";
    expect(await query(peer, trigger)).toMatchObject({ rows: [] });
  });
});

describe("limits", () => {
  test("rows: the first are given, and that there were more is said", async () => {
    const peer = await open(makeDatabase(), "2025-11-25");
    const hundred = (await query(peer, `${endless} SELECT i FROM n LIMIT 100`)) as { rows: Obj[]; note?: string };
    expect(hundred.rows).toHaveLength(100);
    expect(hundred.note).toBeUndefined();
    const more = (await query(peer, `${endless} SELECT i FROM n`)) as { rows: Obj[]; note?: string };
    expect(more.rows.at(-1)).toEqual({ i: 100 });
    expect(more.note).toMatch(/more than these 100 rows/);
    const two = await open(makeDatabase(), "2025-11-25", { maxRows: 2 });
    expect(await query(two, "SELECT id FROM pet ORDER BY id")).toMatchObject({
      rows: [{ id: 1 }, { id: 2 }],
      note: expect.stringMatching(/2 rows/),
    });
  });

  test("size: rows that fit are given, and that it was cut is said", async () => {
    const peer = await open(makeDatabase(), "2025-11-25", { maxBytes: 1000 });
    const sql = "SELECT printf('%.*c', 400, 'x') AS x FROM pet";
    const { rows, note } = (await query(peer, sql)) as { rows: Obj[]; note?: string };
    expect(rows).toHaveLength(2);
    expect(note).toMatch(/cut at 1000 bytes/);
    expect(await query(peer, "SELECT zeroblob(100000000) AS x")).toMatchObject({
      rows: [],
      note: expect.stringMatching(/cut at 1000 bytes/),
    });
  });

  test("time: a query without end is stopped, those that wait and those that follow are answered", async () => {
    const peer = await open(makeDatabase(), "2025-11-25", { timeoutMs: 300 });
    const [stopped, waited] = await Promise.all([
      query(peer, `${endless} SELECT max(i) FROM n`),
      query(peer, "SELECT 1 AS a"),
    ]);
    expect(stopped).toBe(
      "The query was stopped after 0.3 s. Narrow it with WHERE or LIMIT, or see EXPLAIN QUERY PLAN.",
    );
    expect(waited).toEqual({ rows: [{ a: 1 }] });
    expect(await query(peer, "SELECT 2 AS a")).toEqual({ rows: [{ a: 2 }] });
  });

  test.each(["2025-11-25", "2026-07-28"] as const)("in %s a query that is cancelled is stopped", async (revision) => {
    const peer = await open(makeDatabase(), revision, { timeoutMs: 600_000 });
    expect(await query(peer, "SELECT 1 AS a")).toEqual({ rows: [{ a: 1 }] });
    const id = peer.start("tools/call", { name: "query_data", arguments: { sql: `${endless} SELECT max(i) FROM n` } });
    peer.notify("notifications/cancelled", { requestId: id });
    expect(await query(peer, "SELECT 2 AS a")).toEqual({ rows: [{ a: 2 }] });
  });
});

describe("values", () => {
  test("that JSON does not have are written in those it has", async () => {
    const peer = await open(makeDatabase(), "2025-11-25");
    const sql =
      "SELECT 9007199254740991 AS safe, 9007199254740993 AS big, x'00ff' AS bytes, x'' AS none, NULL AS n, 9e999 AS inf, 1.5 AS real";
    expect(await query(peer, sql)).toEqual({
      rows: [
        {
          safe: 9007199254740991,
          big: "9007199254740993",
          bytes: { base64: "AP8=" },
          none: { base64: "" },
          n: null,
          inf: "Infinity",
          real: 1.5,
        },
      ],
    });
  });

  test("come as structured content too", async () => {
    const peer = await open(makeDatabase(), "2026-07-28");
    const call = { name: "query_data", arguments: { sql: "SELECT id, name FROM pet WHERE id = 2" } };
    expect((await peer.call("tools/call", call)).structuredContent).toEqual({ rows: [{ id: 2, name: "Tom" }] });
  });
});

describe("where writing is allowed", () => {
  test("changes are made and counted", async () => {
    const path = makeDatabase();
    const peer = await open(path, "2025-11-25", { write: true });
    expect(await query(peer, "UPDATE pet SET weight = 1 WHERE id < 3")).toEqual({ rows: [], changes: 2 });
    expect(await query(peer, "INSERT INTO pet (name) VALUES (?) RETURNING id", ["Ann"])).toEqual({
      rows: [{ id: 4 }],
      changes: 1,
    });
    expect(await query(peer, "SELECT count(*) AS n FROM pet WHERE weight = 1")).toMatchObject({ rows: [{ n: 2 }] });
    expect(beside(path)).toEqual(["pets.db"]);
  });

  test("those who watch the schema hear when it changed", async () => {
    const peer = await open(makeDatabase(), "2025-11-25", { write: true });
    await peer.call("resources/subscribe", { uri: "schema://main" });
    await query(peer, "INSERT INTO pet (name) VALUES ('Ann')");
    await peer.settle();
    expect(peer.notifications("notifications/resources/updated")).toEqual([]);
    await query(peer, "CREATE TABLE owner (id INTEGER)");
    await peer.settle();
    expect(peer.notifications("notifications/resources/updated")).toHaveLength(1);
    const { contents } = await peer.call("resources/read", { uri: "schema://main" });
    expect(contents).toMatchObject([{ text: expect.stringContaining("CREATE TABLE owner") }]);
  });

  test("a statement that is stopped has changed nothing, and leaves no lock", async () => {
    const path = makeDatabase();
    const peer = await open(path, "2025-11-25", { write: true, timeoutMs: 500 });
    const sql = `${endless} INSERT INTO pet (name) SELECT hex(randomblob(500)) FROM n`;
    expect(await query(peer, sql)).toMatch(/^The query was stopped/);
    expect(await query(peer, "SELECT count(*) AS n FROM pet")).toEqual({ rows: [{ n: 3 }], changes: 0 });
    expect(await query(peer, "PRAGMA integrity_check")).toMatchObject({ rows: [{ integrity_check: "ok" }] });
    expect(await query(peer, "DELETE FROM pet")).toEqual({ rows: [], changes: 3 });
    expect(beside(path)).toEqual(["pets.db"]);
  });
});

test("a file that is missing, or no database, is said, and not made", async () => {
  const missing = join(mkdtempSync(join(folder, "none-")), "none.db");
  for (const write of [false, true]) {
    const peer = await open(missing, "2025-11-25", { write });
    expect(await query(peer, "SELECT 1")).toMatch(/^Could not open the database .*\. The file is missing/);
    const { message } = await peer.fail("resources/read", { uri: "schema://main" });
    expect(message).toMatch(/The file is missing/);
  }
  expect(existsSync(missing)).toBe(false);
  const text = join(folder, "text.db");
  writeFileSync(text, "This is a text, and long enough to be taken for the header of something. ".repeat(20));
  expect(await query(await open(text, "2025-11-25"), "SELECT * FROM pet")).toBe("file is not a database");
});

describe("as a program", () => {
  const run = (...args: string[]) =>
    spawn(process.execPath, ["--conditions=plenum-source", "--import", "tsx", "examples/sqlite-explorer.ts", ...args], {
      cwd: root,
      stdio: ["pipe", "pipe", "pipe"],
    });

  /** The answers to the requests, in the newest revision; the program ends by itself when they are there. */
  async function ask(args: string[], requests: Obj[]): Promise<Obj[]> {
    const child = run(...args);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    };
    const exited = once(child, "exit");
    for (const [id, { method, ...params }] of requests.entries())
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } })}\n`);
    const answers: Obj[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as { id: number; result: Obj };
      answers[id] = result;
      if (Object.keys(answers).length === requests.length) child.stdin.end();
    }
    expect((await exited)[0]).toBe(0);
    return answers;
  }

  const count = (table: string): Obj => ({
    method: "tools/call",
    name: "query_data",
    arguments: { sql: `SELECT count(*) AS n FROM ${table}` },
  });

  test("serves a file", async () => {
    const [answer] = await ask([makeDatabase()], [count("pet")]);
    expect(answer?.structuredContent).toEqual({ rows: [{ n: 3 }] });
  });

  test("serves a sample when it is given no file", async () => {
    const [schema, books] = await ask([], [{ method: "resources/read", uri: "schema://main" }, count("shelf")]);
    expect(schema?.contents).toMatchObject([{ text: expect.stringContaining("CREATE TABLE book") }]);
    expect(books?.structuredContent).toEqual({ rows: [{ n: 3 }] });
  });

  test("says that a file is missing, and ends", async () => {
    const child = run("/does/not/exist.db");
    let said = "";
    child.stderr.on("data", (chunk) => (said += chunk));
    const [code] = await once(child, "close");
    expect([code, said]).toEqual([1, "There is no file /does/not/exist.db.\n"]);
  });
});
