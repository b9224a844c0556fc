// What a server asks while a command runs: answered by options where a script runs it, and by prompts at a terminal.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Revision } from "plenum";
import { describe, expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { fixture, libraryUrl, makeFolder, openTerminal, type RunOptions, runCli, type Terminal } from "./stage.ts";

const file = fixture("everything.mjs");
const enter = "\r";
const space = " ";
const esc = "\x1b";
const down = "\x1b[B";
const ctrlC = "\x03";

/** One of each era, and of each way that a server is reached. */
const ways: readonly (readonly [revision: string, kind: "command" | "file"])[] = [
  ["2025-06-18", "command"],
  ["2025-11-25", "command"],
  ["2026-07-28", "command"],
  ["2026-07-28", "file"],
];

function toWords(tool: string, options: readonly string[], [revision, kind]: (typeof ways)[number]): string[] {
  const pinned = ["--revision", revision, ...options];
  return kind === "file" ? ["call", file, tool, ...pinned] : ["call", tool, ...pinned, "--", "node", file];
}

describe.each(ways)("in %s, by %s", (...way) => {
  test("--answer fills in a form, by the kinds of its fields, and the rest is as proposed", async () => {
    const ran = await runCli(toWords("greet", ["--answer", "name=Ann"], way));
    expect(ran).toMatchObject({ code: 0, stdout: "Hello Ann, 30\n" });
    const other = await runCli(toWords("greet", ["--answer", "name=Ann", "--answer", "age=7"], way));
    expect(other.stdout).toBe("Hello Ann, 7\n");
  });

  test("a field that nothing answers is named, and so is how to answer it", async () => {
    const [envelope] = (await runCli([...toWords("greet", ["--yes", "--json"], way)])).json();
    expect(envelope).toMatchObject({
      ok: false,
      error: { code: "missing_answer", exitCode: 1, hint: expect.stringContaining("--answer name=…") },
    });
  });

  test("a form in the terminal", async () => {
    covers(["elicitation-ui-2025-11", "elicitation-ui-server-identity", "elicitation-ui-review"], way[0] as Revision);
    const terminal = await openTerminal(toWords("greet", [], way));
    await terminal.until(/everything 1\.2\.3 asks:\s+Who are you\?/);
    await terminal.until(/Cancel/);
    terminal.type(enter);
    await terminal.until(/name/);
    terminal.type(`Ann${enter}`);
    await terminal.until(/age \(a whole number, 0 or more.*\)/);
    // The proposal is there already. 2025-06-18 has none for numbers: left empty, it is the server's.
    if (way[0] !== "2025-06-18") await terminal.until(/30/);
    terminal.type(enter);
    await terminal.until(/Send these answers\?/);
    terminal.type(enter);
    await terminal.until(/Hello Ann, 30/);
    expect(await terminal.exited).toBe(0);
  });
});

describe("a form at the terminal", () => {
  test("fields of every kind; what does not fit is said, and asked again", async () => {
    const terminal = await openTerminal(["call", file, "form"]);
    await begin(terminal);
    await terminal.until(/E-mail \(an e-mail address\)\s+Where to write to/);
    terminal.type(`ann${enter}`);
    await terminal.until(/It must .*email/);
    terminal.type(`@example.com${enter}`);
    await terminal.until(/nick \(2 to 8 characters; may be left empty\)/);
    terminal.type(enter);
    await terminal.until(/ratio \(a number, 0 to 1; may be left empty\)/);
    await terminal.until(/0\.5/);
    terminal.type(enter);
    await terminal.until(/count \(a whole number, 1 or more\)/);
    terminal.type(enter);
    await terminal.until(/An answer is needed/);
    terminal.type(`many${enter}`);
    await terminal.until(/It must be a whole number/);
    terminal.type(`${"\x7f".repeat(4)}12${enter}`);
    await terminal.until(/Switch[\s\S]*● Yes[\s\S]*No answer/);
    terminal.type(`${down}${enter}`);
    await terminal.until(/size[\s\S]*● large[\s\S]*No answer/);
    terminal.type(enter);
    await terminal.until(/color[\s\S]*Red[\s\S]*Green[\s\S]*● No answer/);
    terminal.type(`${down}${down}${enter}`);
    await terminal.until(/shape[\s\S]*Square[\s\S]*Circle[\s\S]*● No answer/);
    terminal.type(enter);
    await terminal.until(/days \(at least 1 of them\)[\s\S]*mo[\s\S]*tu[\s\S]*we/);
    terminal.type(`${space}${down}${down}${space}${enter}`);
    await terminal.until(/fruits[\s\S]*Apple, red[\s\S]*Banana/);
    terminal.type(enter);
    await terminal.until(/Send these answers\?/);
    terminal.type(enter);
    const shown = await terminal.until(/\{"action":"accept".*\}/);
    expect(JSON.parse(shown).content).toEqual({
      mail: "ann@example.com",
      ratio: 0.5,
      count: 12,
      isOn: false,
      size: "large",
      color: "g",
      days: ["mo", "we"],
      fruits: ["b"],
    });
    expect(await terminal.exited).toBe(0);
  });

  test("a list that is too short is asked for again", async () => {
    const folder = makeFolder({
      "server.mjs": toServer("days", { type: "array", items: { type: "string", enum: ["mo", "tu"] }, minItems: 2 }),
    });
    const terminal = await openTerminal(["call", join(folder, "server.mjs"), "ask"]);
    await begin(terminal);
    await terminal.until(/mo[\s\S]*tu/);
    terminal.type(`${space}${enter}`);
    await terminal.until(/It must [\s\S]*mo[\s\S]*tu/);
    terminal.type(`${down}${space}${enter}`);
    await terminal.until(/"days":\["mo","tu"\]/);
    expect(await terminal.exited).toBe(0);
  });

  test("Decline, and Cancel, and Esc in the middle", async () => {
    covers(["elicitation-ui-privacy"]);
    const declined = await openTerminal(["call", file, "greet"]);
    await declined.until(/Cancel/);
    declined.type(`${down}${enter}`);
    await declined.until(/You said decline\./);
    const chosen = await openTerminal(["call", file, "greet"]);
    await chosen.until(/Cancel/);
    chosen.type(`${down}${down}${enter}`);
    await chosen.until(/You said cancel\./);
    const left = await openTerminal(["call", file, "greet"]);
    await begin(left);
    await left.until(/name/);
    left.type(`Ann${esc}`);
    await left.until(/You said cancel\./);
    expect([await declined.exited, await chosen.exited, await left.exited]).toEqual([0, 0, 0]);
  });

  test("the answers can be changed before they are sent", async () => {
    const terminal = await openTerminal(["call", file, "greet"]);
    await begin(terminal);
    await terminal.until(/name/);
    terminal.type(`An${enter}`);
    await terminal.until(/age/);
    terminal.type(enter);
    await terminal.until(/Send these answers\?[\s\S]*Decline/);
    terminal.type(`${down}${enter}`);
    await terminal.until(/name[\s\S]*An/);
    terminal.type(`n${enter}`);
    await terminal.until(/age/);
    terminal.type(enter);
    await terminal.until(/Send these answers\?[\s\S]*Decline/);
    terminal.type(enter);
    await terminal.until(/Hello Ann, 30/);
  });

  test("what --answer says is not asked", async () => {
    const terminal = await openTerminal(["call", file, "greet", "--answer", "name=Ann"]);
    await begin(terminal);
    await terminal.until(/age/);
    terminal.type(enter);
    await terminal.until(/Hello Ann, 30/);
    expect(terminal.text).not.toMatch(/◆ {2}name/);
  });

  test("Ctrl-C cancels the question, the next one ends the command", async () => {
    const folder = makeFolder({ "server.mjs": toServer("name", { type: "string" }, "await new Promise(() => {});") });
    const terminal = await openTerminal(["call", "ask", "--", "node", join(folder, "server.mjs")]);
    await begin(terminal);
    await terminal.until(/name/);
    terminal.type(ctrlC);
    await terminal.until(/The server hears that you cancelled/);
    terminal.type(ctrlC);
    expect(await terminal.exited).toBe(130);
  });

  test("a server that is gone takes its question with it", async () => {
    const flag = join(makeFolder(), "go");
    const soon = `setInterval(() => existsSync(${JSON.stringify(flag)}) && process.exit(9), 20);`;
    const folder = makeFolder({ "server.mjs": toServer("name", { type: "string" }, "", soon) });
    const words = ["call", "ask", "--revision", "2025-11-25", "--", "node", join(folder, "server.mjs")];
    const terminal = await openTerminal(words);
    await terminal.until(/Do you want to answer\?/);
    writeFileSync(flag, "");
    expect(await terminal.exited).toBe(2);
    expect(terminal.text).not.toContain("you cancelled");
  });

  test("two questions at once come one after the other", async () => {
    const folder = makeFolder({ "server.mjs": toServer("name", { type: "string" }, "", "", 2) });
    const terminal = await openTerminal(["call", join(folder, "server.mjs"), "ask"]);
    for (const name of ["Ann", "Bob"]) {
      await begin(terminal);
      await terminal.until(/◆ {2}name/);
      terminal.type(`${name}${enter}`);
    }
    await terminal.until(/"name":"Ann".*"name":"Bob"/);
    expect(await terminal.exited).toBe(0);
  });

  test("what the server says cannot move the cursor", async () => {
    const folder = makeFolder({
      "server.mjs": toServer("name", { type: "string", title: "\u001b[2JTitle", description: "\u001b]0;owned\u0007" }),
    });
    const terminal = await openTerminal(["call", join(folder, "server.mjs"), "ask"]);
    await begin(terminal);
    await terminal.until(/\\x1b\[2JTitle/);
    expect(terminal.shown).not.toContain("\u001b]0;owned");
    terminal.type(esc);
    await terminal.exited;
  });
});

test.each([
  ["NO_COLOR", [], { NO_COLOR: "1" }],
  ["--no-color", ["--no-color"], {}],
])("prompts have no colours with %s", async (_, words, env) => {
  const terminal = await openTerminal(["call", file, "greet", ...words], { env });
  await terminal.until(/Cancel/);
  expect(terminal.shown).not.toContain("\u001b[3");
  terminal.type(esc);
  await terminal.exited;
});

describe("in a script", () => {
  test("nobody to ask: the server is not told that it could, and what to do is said", async () => {
    const { code, stderr } = await runCli(["call", file, "greet"]);
    expect(code).toBe(4);
    expect(stderr).toContain("--answer KEY=VALUE");
    expect(stderr).not.toContain("onElicit");
  });

  test("lists, titles, yes and no", async () => {
    const answers = [
      "mail=a@b.de",
      "count=2",
      "isOn=no",
      "color=green",
      "shape=Circle",
      "days=mo,we",
      "fruits=Apple, red",
      "fruits=b",
    ];
    const { code, stdout } = await runCli(["call", file, "form", ...answers.flatMap((one) => ["--answer", one])]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).content).toMatchObject({
      isOn: false,
      color: "g",
      shape: "ci",
      days: ["mo", "we"],
      fruits: ["a", "b"],
    });
  });

  test.each([
    [["count=2.5"], "--answer count: must be"],
    [["count=many"], "--answer count: must be a whole number"],
    [["isOn=maybe"], "--answer isOn: must be yes or no"],
    [["size=huge"], "--answer size: must be one of small, large"],
    [["days=mo,su"], "--answer days: must be one of mo, tu, we"],
    [["mail=x"], "--answer mail: must"],
    [["count=1", "count=2"], "--answer count: takes one answer, not 2"],
  ])("%j does not fit, and the call is not made in its place", async (answers, said) => {
    const words = answers.flatMap((one) => ["--answer", one]);
    const { code, stdout, stderr } = await runCli(["call", file, "form", ...words]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(said);
  });

  test("an answer to something else is no consent", async () => {
    const folder = makeFolder({ "server.mjs": toServer("note", { type: "string" }) });
    const words = ["call", join(folder, "server.mjs"), "ask"];
    const { code, stderr } = await runCli([...words, "--answer", "nota=x"]);
    expect(code).toBe(1);
    expect(stderr).toContain("Did you mean");
    expect((await runCli([...words, "--yes"])).stdout).toContain('"action":"accept"');
  });

  test.each(["decline", "cancel"])("--%s", async (action) => {
    const { code, stdout, stderr } = await runCli(["call", file, "greet", `--${action}`]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `You said ${action}.\n` });
    expect(stderr).toContain("Who are you?");
    expect((await runCli(["call", file, "greet", `--${action}`, "--yes"])).code).toBe(1);
  });

  test("--root", async () => {
    const folder = makeFolder();
    const { stdout } = await runCli(["call", file, "folders", "--root", folder]);
    expect(stdout).toBe(`${pathToFileURL(folder).href}\n`);
  });
});

describe("a page", () => {
  const url = "https://pay.example/checkout?cart=7";

  /** A desktop whose browser writes down what it is to open. */
  function makeDesktop(): { readonly env: NonNullable<RunOptions["env"]>; readonly opened: () => string | undefined } {
    const folder = makeFolder({ "bin/xdg-open": `#!/bin/sh\nprintf '%s' "$1" > "$0.opened"\n` });
    chmodSync(join(folder, "bin", "xdg-open"), 0o755);
    const path = join(folder, "bin", "xdg-open.opened");
    return {
      env: { PATH: `${join(folder, "bin")}:${process.env.PATH}` },
      opened: () => (existsSync(path) ? readFileSync(path, "utf8") : undefined),
    };
  }

  test("is shown whole, and opened with consent", async () => {
    covers(["elicitation-show-full-url"]);
    const { env, opened } = makeDesktop();
    const terminal = await openTerminal(["call", file, "visit"], { env });
    await terminal.until(
      /everything 1\.2\.3 asks you to visit a page:\s+Please pay\s+https:\/\/pay\.example\/checkout\?cart=7/,
    );
    await terminal.until(/Cancel/);
    expect(opened()).toBeUndefined();
    terminal.type(`\x1b[A${enter}`);
    await terminal.until(/You said accept\./);
    expect(opened()).toBe(url);
  });

  test("is opened by nobody else: not by --yes, not where the user says no", async () => {
    const { env, opened } = makeDesktop();
    const { stdout, stderr } = await runCli(["call", file, "visit", "--yes"], { env });
    expect(stdout).toBe("You said accept.\n");
    expect(stderr).toContain(url);
    const terminal = await openTerminal(["call", file, "visit"], { env });
    await terminal.until(/Cancel/);
    terminal.type(`${down}${enter}`);
    await terminal.until(/You said decline\./);
    expect(opened()).toBeUndefined();
  });
});

/** Past the question whether to answer. */
async function begin(terminal: Terminal): Promise<void> {
  await terminal.until(/Do you want to answer\?[\s\S]*Cancel/);
  terminal.type(enter);
}

/**
 * A server whose one tool asks for one field, and gives back what it was answered.
 * @param after what it does then
 * @param soon what it does while it waits
 * @param times how often it asks, all at once
 */
function toServer(name: string, field: object, after = "", soon = "", times = 1): string {
  const schema = { type: "object", properties: { [name]: field } };
  return `
    import { existsSync } from "node:fs";
    import { pathToFileURL } from "node:url";
    import { createServer, jsonSchema } from "${libraryUrl()}";
    import { serveStdio } from "${libraryUrl("transport/stdio/server.js")}";
    const server = createServer({ name: "asker", version: "1.0.0" });
    server.tool("ask", {}, async (_, ctx) => {
      const ask = () => ctx.elicit("Please say", jsonSchema(${JSON.stringify(schema)}));
      const answers = Promise.all(Array.from({ length: ${times} }, ask));
      ${soon}
      await answers;
      ${after}
      return JSON.stringify(await answers);
    });
    export default server;
    if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) serveStdio(server);
  `;
}
