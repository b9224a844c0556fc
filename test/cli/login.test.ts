// Servers that want a login: what is kept of one, who is asked for one, and who is not.
import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { makeDesktop, openProtected, visit } from "./protected.ts";
import { fixture, makeFolder, openTerminal, runCli } from "./stage.ts";

/** For what must come, of a browser that is a process of its own. */
const soon = { timeout: 20_000 };

/** Every token that was kept so far: none of them may be shown. */
function tokensIn(path: string): string[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/\\"(?:accessToken|refreshToken)\\":\\"([^"\\]+)\\"/g)].map(([, token = ""]) => token);
}

describe("login", () => {
  test("opens the browser, keeps what was granted, and says what that is", async () => {
    const { url, issuer } = await openProtected();
    const { env, visits, tokens } = makeDesktop();
    const ran = await runCli(["login", url, "--json"], { env });
    expect(ran.json()).toEqual([
      {
        ok: true,
        result: expect.objectContaining({
          server: url,
          isLoggedIn: true,
          isNew: true,
          issuer,
          scopes: expect.arrayContaining(["notes:read"]),
          isRenewable: true,
          expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
        }),
      },
    ]);
    await expect.poll(visits, soon).toEqual([expect.stringMatching(`^${issuer}/`), "Thank you"]);
    expect(statSync(tokens).mode & 0o777).toBe(0o600);
    expect(tokensIn(tokens).length).toBeGreaterThan(1);
    for (const token of tokensIn(tokens)) expect(ran.stdout + ran.stderr).not.toContain(token);

    const called = await runCli(["call", url, "list_notes", "--trace"], { env });
    expect(called).toMatchObject({ code: 0, stdout: "ann has no notes\n" });
    for (const token of tokensIn(tokens)) expect(called.stdout + called.stderr).not.toContain(token);
    expect(visits()).toHaveLength(2);

    const again = await runCli(["login", url], { env });
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^You are logged in already at .*\nGranted by/),
    });
    expect(again.stderr).toContain("--force");
    expect(visits()).toHaveLength(2);
    await runCli(["login", url, "--force"], { env });
    await expect.poll(visits, soon).toHaveLength(4);
  });

  test("a token that has ended is renewed, and nobody is asked", async () => {
    const { url } = await openProtected({ accessTokenTtlS: 1 });
    const { env, visits, tokens } = makeDesktop();
    await runCli(["login", url], { env });
    const before = tokensIn(tokens);
    expect(await runCli(["call", url, "list_notes"], { env })).toMatchObject({ code: 0, stdout: "ann has no notes\n" });
    expect(tokensIn(tokens)).not.toEqual(before);
    await expect.poll(visits, soon).toHaveLength(2);
  });

  test("who says no on the page is not logged in", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop("deny");
    const { code, stderr } = await runCli(["login", url], { env });
    expect(code).toBe(3);
    expect(stderr).toMatch(/error: .*\n.*plenum login/);
    await expect.poll(() => visits().at(-1), soon).toBe("Nothing was granted");
  });

  test("without a browser, the address is pasted back", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop();
    const terminal = await openTerminal(["login", url, "--no-browser"], { env });
    const page = (await terminal.until(/http:\/\/127\.0\.0\.1:\d+\/authorize\S+/)).replaceAll(/\s/g, "");
    await terminal.until(/Paste that address here/);
    terminal.type(`${await visit(page)}\r`);
    await terminal.until(/Logged in at/);
    expect(await terminal.exited).toBe(0);
    expect(visits()).toEqual([]);
    expect(await runCli(["call", url, "list_notes"], { env })).toMatchObject({ code: 0 });
  });

  test("as a client that is known already, also when its token is renewed later", async () => {
    const { url } = await openProtected({
      registration: false,
      accessTokenTtlS: 1,
      clients: [{ id: "app", secret: "s3cret-of-app", redirectUris: ["http://127.0.0.1/callback"] }],
    });
    const { env, visits, tokens } = makeDesktop();
    const unknown = await runCli(["login", url], { env });
    expect(unknown.code).toBe(3);
    const ran = await runCli(["login", url, "--client-id", "app", "--client-secret", "s3cret-of-app"], { env });
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.stdout + ran.stderr).not.toContain("s3cret-of-app");
    const before = tokensIn(tokens);
    expect(await runCli(["call", url, "list_notes"], { env })).toMatchObject({ code: 0 });
    expect(tokensIn(tokens)).not.toEqual(before);
    await expect.poll(visits, soon).toHaveLength(2);
  });

  test("--scope asks for that, and again where more is wanted", async () => {
    const { url } = await openProtected();
    const { env } = makeDesktop();
    const first = await runCli(["login", url, "--scope", "notes:read"], { env });
    expect(first.stdout).toMatch(/^Scopes: .*notes:read/m);
    expect(first.stdout).not.toContain("notes:write");
    const refused = await runCli(["call", url, "clear_notes"], { env });
    expect(refused.code).toBe(3);
    const more = await runCli(["login", url, "--scope", "notes:read notes:write"], { env });
    expect(more.stdout).toMatch(/^Scopes: .*notes:write/m);
    expect((await runCli(["call", url, "clear_notes"], { env })).stdout).toBe("The notes of ann are gone\n");
  });

  test("is for servers at a URL, and not beside a header of one's own", async () => {
    expect(await runCli(["login", fixture("everything.mjs")])).toMatchObject({ code: 1 });
    const { code, stderr } = await runCli(["login", "http://127.0.0.1:9/mcp", "-H", "Authorization: Bearer x"]);
    expect(code).toBe(1);
    expect(stderr).toContain("Leave out the header");
  });
});

describe("a call without a login", () => {
  test("in a script ends with exit code 3 and says what to do; no browser is opened", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop();
    for (const more of [[], ["--json"], ["--yes"]]) {
      const { code, stderr } = await runCli(["call", url, "list_notes", ...more], { env });
      expect(code).toBe(3);
      expect(stderr).toContain(`plenum login ${url}`);
    }
    expect(visits()).toEqual([]);
  });

  test("with a header of one's own that is no good", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop();
    const ran = await runCli(["call", url, "list_notes", "-H", "Authorization: Bearer n0t-good", "--json"], { env });
    expect(ran.code).toBe(3);
    expect(ran.json()[0]?.error).toMatchObject({ code: "unauthorized", exitCode: 3 });
    expect(ran.stdout + ran.stderr).not.toContain("n0t-good");
    expect(visits()).toEqual([]);
  });

  test("at a terminal asks first, then goes on with the call", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop();
    const terminal = await openTerminal(["call", url, "list_notes"], { env });
    await terminal.until(/wants a login\. Open the browser\?/);
    expect(visits()).toEqual([]);
    terminal.type("y");
    await terminal.until(/ann has no notes/);
    expect(await terminal.exited).toBe(0);
  });

  test("Ctrl-C ends the waiting for the browser", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop("nothing");
    const terminal = await openTerminal(["call", url, "list_notes"], { env });
    await terminal.until(/Open the browser\?/);
    terminal.type("y");
    await terminal.until(/Waiting for the login/);
    // The browser is a process of its own, and writes into the folder that goes with the test.
    await expect.poll(visits, soon).toHaveLength(1);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(130);
  });

  test("at a terminal, and the answer is no", async () => {
    const { url } = await openProtected();
    const { env, visits } = makeDesktop();
    const terminal = await openTerminal(["call", url, "list_notes"], { env });
    await terminal.until(/Open the browser\?/);
    terminal.type("n");
    await terminal.until(/plenum login http/);
    expect(await terminal.exited).toBe(3);
    expect(visits()).toEqual([]);
  });
});

describe("logout", () => {
  test("forgets the login at a server, and says what it was", async () => {
    const { url, issuer } = await openProtected();
    const { env } = makeDesktop();
    await runCli(["login", url], { env });
    const [envelope] = (await runCli(["logout", url, "--json"], { env })).json();
    expect(envelope).toMatchObject({ ok: true, result: { server: url, isRemoved: true, issuer } });
    expect(await runCli(["call", url, "list_notes"], { env })).toMatchObject({ code: 3 });
    expect((await runCli(["logout", url], { env })).stdout).toContain("You were not logged in");
  });

  test("--all", async () => {
    const { url } = await openProtected();
    const { env, tokens } = makeDesktop();
    await runCli(["login", url], { env });
    expect((await runCli(["logout", "--all"], { env })).stdout).toContain(tokens);
    expect(() => statSync(tokens)).toThrow();
    expect((await runCli(["logout", "--all"], { env })).stdout).toBe("There are no logins.\n");
    expect(await runCli(["logout"], { env })).toMatchObject({ code: 1 });
  });
});

test("neither takes a command, and both take an entry that has a URL", async () => {
  const { url } = await openProtected();
  const { env } = makeDesktop();
  for (const name of ["login", "logout"]) {
    const { stdout } = await runCli([name, "--help"]);
    expect(stdout).toMatch(new RegExp(`plenum ${name} \\[?URL\\]? \\[options\\]\\n\\n`));
    expect(stdout).not.toContain("COMMAND");
    expect(await runCli([name, "--", "node", "server.js"], { env })).toMatchObject({ code: 1 });
  }
  const cwd = makeFolder({ "mcp.json": JSON.stringify({ mcpServers: { notes: { url } } }) });
  expect(await runCli(["login", "mcp.json:notes"], { env, cwd })).toMatchObject({ code: 0 });
  expect((await runCli(["logout", "mcp.json:notes"], { env, cwd })).stdout).toContain("Logged out of");
});
