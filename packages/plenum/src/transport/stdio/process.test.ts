// A server's process that is spoken to by hand.
import { once } from "node:events";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { startServer } from "./process.ts";

const script = "console.log(JSON.stringify([process.env.GIVEN, process.env.SECRET_OF_OURS, process.cwd()]))";

test("it is started like any server: with few variables, in its folder", async () => {
  process.env.SECRET_OF_OURS = "secret";
  const env = { GIVEN: "given" };
  const child = await startServer({ command: process.execPath, args: ["-e", script], env, cwd: tmpdir() });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  expect(JSON.parse(line.toString())).toEqual(["given", null, tmpdir()]);
  await once(child, "exit");
});

test("what cannot be started is told in plain words", async () => {
  await expect(startServer({ command: "plenum-no-such-program" })).rejects.toMatchObject({
    code: "connection_lost",
    message: expect.stringContaining("was not found"),
  });
});
