// Servers that are started as processes have nothing to do with all this: credentials come with their environment.
import { connect, revisions } from "plenum";
import { oauth } from "plenum/auth/client";
import { afterEach, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const program = `
import { createServer } from "plenum/tools";
import { serveStdio } from "plenum/stdio";
const server = createServer({ name: "env", version: "1" });
server.tool("token", {}, (_, ctx) => JSON.stringify([process.env.NOTES_TOKEN, ctx.auth ?? null]));
server.tool("scoped", { scopes: ["notes:write"] }, () => "done");
serveStdio(server);
`;

test.each(revisions)("a process of %s is given its credentials, and nobody is asked for any", async (revision) => {
  covers(["auth-flow-stdio-exempt", "auth-flow-optional"], revision);
  const fetched = vi.spyOn(globalThis, "fetch");
  const args = ["--conditions=plenum-source", "--import", "tsx", "--input-type=module", "--eval", program];
  const target = { command: process.execPath, args, env: { NOTES_TOKEN: "6f1d" } };
  const client = await connect(target, { revision });
  try {
    expect(JSON.parse((await client.callTool("token")).text)).toEqual(["6f1d", null]);
    // Nobody says who calls: it is who has started the process.
    expect((await client.callTool("scoped")).text).toBe("done");
    expect(fetched).not.toHaveBeenCalled();
  } finally {
    await client.close();
  }
});

test("a process is not logged in to", async () => {
  covers("auth-flow-stdio-exempt");
  await expect(
    connect({ command: process.execPath, args: ["--version"] }, { auth: oauth() } as object),
  ).rejects.toThrow(TypeError);
});
