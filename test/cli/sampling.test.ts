// A server that asks for the answer of a model: typed at the terminal, or given by a script.
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { fixture, openTerminal, runCli } from "./stage.ts";

const file = fixture("everything.mjs");
const enter = "\r";
const down = "\x1b[B";

test("it is typed, in as many lines as it takes", async () => {
  covers(["sampling-ui-review"]);
  const terminal = await openTerminal(["call", file, "poem"]);
  await terminal.until(/everything 1\.2\.3 asks for the answer of a model:\s+user: A poem\s+at most 100 tokens/);
  await terminal.until(/Refuse/);
  terminal.type(enter);
  await terminal.until(/> /);
  terminal.type(`Roses${enter}are red${enter}.${enter}`);
  await terminal.until(/The model said: .*"Roses\\nare red"/);
  expect(await terminal.exited).toBe(0);
});

test("it ends with Ctrl-D, too", async () => {
  const terminal = await openTerminal(["call", "poem", "--revision", "2025-06-18", "--", "node", file]);
  await terminal.until(/Refuse/);
  terminal.type(enter);
  await terminal.until(/> /);
  terminal.type(`Violets${enter}`);
  await terminal.until(/> /);
  terminal.type("\x04");
  await terminal.until(/The model said: .*"Violets"/);
  expect(await terminal.exited).toBe(0);
});

test("it is refused", async () => {
  covers(["sampling-human-in-loop"]);
  const terminal = await openTerminal(["call", file, "poem"]);
  await terminal.until(/Refuse/);
  terminal.type(`${down}${enter}`);
  await terminal.until(/User rejected sampling request/);
  expect(await terminal.exited).toBe(4);
});

test("it is what a program prints, which gets the request", async () => {
  const program = `node -e "process.stdin.on('data', (text) => console.log(JSON.parse(text).messages[0].content.text, '!'))"`;
  const { code, stdout } = await runCli(["call", file, "poem", "--sample-command", program]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('"A poem !"') });
  const failed = await runCli(["call", file, "poem", "--sample-command", "exit 7"]);
  expect(failed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("ended with 7") });
});

test("it is given by --answer, and not by --yes", async () => {
  expect((await runCli(["call", file, "poem", "--answer", "sample=Roses"])).stdout).toContain("Roses");
  const { code, stderr } = await runCli(["call", file, "poem", "--yes"]);
  expect(code).toBe(4);
  expect(stderr).toContain("--answer sample=TEXT");
});
