// A protected server and its authorization server on this machine, and a desktop whose browser logs in by itself.
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { createServer } from "plenum";
import {
  type AuthorizationServerOptions,
  createAuthorizationServer,
  passwordLogin,
} from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { requireAuth } from "plenum/auth/resource-server";
import { toNodeHandler } from "plenum/http/node";
import { onTestFinished, vi } from "vitest";
import { fixture, makeFolder } from "./stage.ts";

export interface Protected {
  /** The server: its tools are `list_notes`, and `clear_notes`, which takes the scope notes:write. */
  readonly url: string;
  readonly issuer: string;
}

export async function openProtected(more: Partial<AuthorizationServerOptions> = {}): Promise<Protected> {
  const http = createHttpServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const resource = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const authorization = await serveAuthorizationServer((issuer) =>
    createAuthorizationServer({
      issuer,
      resources: [resource],
      scopes: { "notes:read": "Read your notes", "notes:write": "Change your notes" },
      login: passwordLogin({ check: (name, password) => name === "ann" && password === "tulip" }),
      ...more,
    }),
  );
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("list_notes", {}, (_, ctx) => `${ctx.auth?.subject} has no notes`);
  server.tool("clear_notes", { scopes: ["notes:write"] }, (_, ctx) => `The notes of ${ctx.auth?.subject} are gone`);
  const handler = toNodeHandler(server, {
    path: "/mcp",
    auth: requireAuth({ verify: authorization.server.verifier, resource, scopes: ["notes:read"] }),
  });
  http.on("request", handler);
  onTestFinished(async () => {
    http.closeAllConnections();
    http.close();
    await Promise.all([handler.close(0), authorization.close(0)]);
  });
  return { url: resource, issuer: authorization.origin };
}

export interface Desktop {
  /** With a home and a browser of its own. */
  readonly env: { readonly [name: string]: string };
  readonly home: string;
  /** What the browser was opened at, and the titles of the pages that it ended on. */
  visits(): readonly string[];
  /** Where the logins are kept. */
  readonly tokens: string;
}

/** @param answer what the user says on the consent page; `nothing`: goes away without a word */
export function makeDesktop(answer: "allow" | "deny" | "nothing" = "allow"): Desktop {
  const home = makeFolder();
  const log = join(home, "visits.log");
  mkdirSync(join(home, "bin"));
  const opener = join(home, "bin", "xdg-open");
  writeFileSync(opener, `#!/bin/sh\nexec '${process.execPath}' '${fixture("browser.mjs")}' '${log}' ${answer} "$1"\n`);
  chmodSync(opener, 0o755);
  const visits = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
  // The browser is a process of its own, which may end after the command: it writes into the folder that goes with the test.
  if (answer !== "nothing")
    onTestFinished(async () => void (await vi.waitUntil(() => visits().length % 2 === 0, { timeout: 10_000 })));
  return {
    home,
    env: { HOME: home, PATH: `${join(home, "bin")}:${process.env.PATH}` },
    visits,
    tokens: join(home, ".local", "state", "plenum", "tokens.json"),
  };
}

/** Where a login at another machine's browser leads. */
export async function visit(page: string): Promise<string> {
  const log = join(makeFolder(), "visits.log");
  const { stdout } = await promisify(execFile)(process.execPath, [fixture("browser.mjs"), log, "callback", page]);
  return stdout.trim();
}
