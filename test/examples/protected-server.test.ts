// The example of a protected server does what it shows: nothing is known of the server but its address, and at the end a tool
// has run that took more than was allowed at first.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { root } from "../house/source.ts";
import { covers } from "../requirements/covers.ts";

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const args = ["--conditions=plenum-source", "--import", "tsx", join(root, "examples/protected-server.ts")];

test("examples/protected-server.ts walks through the flow and ends", async () => {
  covers(["auth-flow-oauth21-as", "auth-flow-http-conform", "auth-flow-step-up"], "2026-07-28");
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, PORT: String(await findPort()) } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  const code = await new Promise((resolve) => child.on("close", resolve));
  const asked = [...output.matchAll(/^ {2}(?:server|authorization) +(.*)$/gm)].map(([, line]) => line);
  const discovery = [
    "GET  /.well-known/oauth-protected-resource/mcp → 200",
    "GET  /.well-known/oauth-authorization-server → 200",
  ];
  const consent = ["GET  /consent → 200", "POST /consent → 303", "POST /token → 200"];
  expect(asked).toEqual([
    ...discovery,
    ...["POST /register → 201", "GET  /authorize → 302", "GET  /login → 200", "POST /login → 303", ...consent],
    // The browser is known by now, and the client as well; what it may do is asked again.
    ...[...discovery, "GET  /authorize → 302", "GET  /login → 302", ...consent],
  ]);
  expect(output).toContain("\n  ann has no notes\n");
  expect(output).toContain("\n  The notes of ann are gone\n");
  expect(output).toMatch(/^authorization: http:\/\/127\.0\.0\.1:\d+\nserver: +http:\/\/127\.0\.0\.1:\d+\/mcp\n/);
  expect(code).toBe(0);
});

test("with --browser it shows the address of the page, whether or not there is a browser", async () => {
  const child = spawn(process.execPath, [...args, "--browser"], {
    cwd: root,
    // Nothing is found that could open one.
    env: { ...process.env, PATH: "", PORT: String(await findPort()) },
  });
  onTestFinished(() => void child.kill());
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const page = await vi.waitFor(() => {
    const [, found] = /^ {2}(http:\S+\/authorize\?\S+)$/m.exec(output) ?? [];
    if (found === undefined) throw new Error(`no address in ${output}`);
    return found;
  }, 20_000);
  expect((await fetch(page, { redirect: "manual" })).status).toBe(302);
  expect(child.exitCode).toBeNull();
});
