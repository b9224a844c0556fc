// The port that a browser is sent back to, with real sockets: it takes the one answer that it waits for, and nothing that others
// could have a browser send there; and it is gone when the visit is over.
import { type IncomingHttpHeaders, request } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Visit } from "plenum/auth/client";
import { type LoopbackOptions, loopbackRedirect } from "plenum/auth/node";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { watchStrays } from "../fuzz/strays.ts";
import { covers } from "../requirements/covers.ts";

watchStrays();
afterEach(() => {
  vi.unstubAllEnvs();
});

const page = new URL("https://as.example/authorize?client_id=c&state=s");

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** As a browser asks, but for what is said otherwise. */
function ask(uri: string, path: string, { method = "GET", headers = {} }: Asked = {}): Promise<Answer> {
  const { port } = new URL(uri);
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, path, method, agent: false, headers: { "sec-fetch-dest": "document", ...headers } },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
      },
    );
    sent.on("error", reject).end();
  });
}

async function begin(options: LoopbackOptions = {}): Promise<Visit> {
  const visit = await loopbackRedirect({ open: () => {}, ...options }).begin();
  onTestFinished(() => visit.close?.());
  return visit;
}

/** What came, as text. */
async function open(visit: Visit, signal?: AbortSignal): Promise<string> {
  return String(await visit.open(page, signal));
}

test("the answer comes back, and the page is friendly and shut tight", async () => {
  covers("security-redirect-scheme");
  const shown: string[] = [];
  const visit = await begin({ open: ({ href }) => shown.push(href), onUrl: ({ href }) => void shown.push(href) });
  expect(visit.uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const came = open(visit);
  const { status, headers, body } = await ask(
    visit.uri,
    "/callback?code=secret-code&state=s&iss=https%3A%2F%2Fas.example",
  );
  expect(await came).toBe("code=secret-code&state=s&iss=https%3A%2F%2Fas.example");
  expect(shown).toEqual([page.href, page.href]);
  expect(status).toBe(200);
  expect(body).toContain("You can close this window");
  expect(body).not.toContain("secret-code");
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    ),
  });
  expect(headers["access-control-allow-origin"]).toBeUndefined();
});

test.each([
  ["access_denied", "Nothing was granted"],
  ["server_error", "That did not work"],
  ["<script>alert(1)</script>", "That did not work"],
])("an error is told kindly, and nothing of it is on the page: %s", async (error, title) => {
  const visit = await begin();
  const came = open(visit);
  const query = new URLSearchParams({ error, error_description: '"><img src=x onerror=alert(2)>', state: "s" });
  const { body } = await ask(visit.uri, `/callback?${query}`);
  expect(new URLSearchParams(await came).get("error")).toBe(error);
  expect(body).toContain(`<h1>${title}</h1>`);
  expect(body).not.toMatch(/alert|onerror|<script|<img/);
});

test("an error without state is an answer too", async () => {
  const visit = await begin();
  const came = open(visit);
  await ask(visit.uri, "/callback?error=invalid_scope");
  expect(await came).toBe("error=invalid_scope");
});

test.each<[string, string, Asked]>([
  ["another path", "/?code=x&state=s", {}],
  ["a path below", "/callback/?code=x&state=s", {}],
  ["a path that is written otherwise", "//h/callback?code=x&state=s", {}],
  ["an icon", "/favicon.ico", {}],
  ["neither code nor error", "/callback?state=s", {}],
  ["nothing at all", "/callback", {}],
  ["another state", "/callback?code=x&state=t", {}],
  ["no state", "/callback?code=x", {}],
  ["an error of another question", "/callback?error=access_denied&state=t", {}],
  ["another method", "/callback?code=x&state=s", { method: "POST" }],
  ["a head", "/callback?code=x&state=s", { method: "HEAD" }],
  ["a preflight", "/callback?code=x&state=s", { method: "OPTIONS", headers: { origin: "https://evil.example" } }],
  ["another name", "/callback?code=x&state=s", { headers: { host: "evil.example" } }],
  ["another port", "/callback?code=x&state=s", { headers: { host: "127.0.0.1:1" } }],
  ["no port", "/callback?code=x&state=s", { headers: { host: "127.0.0.1" } }],
  ["an image of a page", "/callback?code=x&state=s", { headers: { "sec-fetch-dest": "image" } }],
  ["a frame of a page", "/callback?error=x", { headers: { "sec-fetch-dest": "iframe" } }],
  ["a script of a page", "/callback?error=x", { headers: { "sec-fetch-dest": "empty" } }],
])("%s is refused, and the visit goes on", async (_, path, asked) => {
  const visit = await begin();
  const came = open(visit);
  const { status, body, headers } = await ask(visit.uri, path, asked);
  expect([status, headers["cache-control"]]).toEqual([404, "no-store"]);
  expect(body).not.toContain("state");
  await ask(visit.uri, "/callback?code=good&state=s");
  expect(await came).toBe("code=good&state=s");
});

test("there is one answer: not before it is asked for, and not after", async () => {
  const visit = await begin();
  expect((await ask(visit.uri, "/callback?code=early&state=s")).status).toBe(404);
  const came = open(visit);
  const both = await Promise.all([
    ask(visit.uri, "/callback?code=first&state=s"),
    ask(visit.uri, "/callback?code=first&state=s"),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
  expect(await came).toBe("code=first&state=s");
  expect((await ask(visit.uri, "/callback?code=late&state=s")).status).toBe(404);
});

test("it may come while the browser is still being opened", async () => {
  const visit = await begin({ open: () => new Promise(() => {}) });
  const came = open(visit);
  await ask(visit.uri, "/callback?code=x&state=s");
  expect(await came).toBe("code=x&state=s");
});

test("a port, a path and a name can be chosen", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  await expect(begin({ port })).rejects.toMatchObject({
    code: "no_redirect",
    message: `Port ${port} of this machine is in use, and nobody could come back to it. Give loopbackRedirect another, or none`,
  });
  await new Promise((resolve) => other.close(resolve));
  const visit = await begin({ port, path: "/back/here", host: "localhost" });
  expect(visit.uri).toBe(`http://localhost:${port}/back/here`);
  const came = open(visit);
  await ask(visit.uri, "/back/here?code=x&state=s", { headers: { host: `localhost:${port}` } });
  expect(await came).toBe("code=x&state=s");
  for (const path of ["callback", "/a?b", "/a#b", "/a b", "//h/callback", "/a/../b", ""])
    expect(() => loopbackRedirect({ path })).toThrow(TypeError);
});

/** The code of the error, or undefined: it can be reached. */
function reach(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => resolve(undefined));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
    onTestFinished(() => void socket.destroy());
  });
}

test("it listens on 127.0.0.1, and nowhere else", async () => {
  const { uri } = await begin();
  const port = Number(new URL(uri).port);
  expect(await reach("127.0.0.1", port)).toBeUndefined();
  // Both would lead to one that listens everywhere.
  expect(await reach("127.0.0.2", port)).toBe("ECONNREFUSED");
  expect(await reach("::1", port)).toBeDefined();
});

test("it is gone after the visit, whatever connections a browser keeps", async () => {
  const visit = await begin();
  const { port } = new URL(visit.uri);
  const sockets: Socket[] = [];
  const closed: Promise<unknown>[] = [];
  // One that says nothing, one that has begun to, one that wants to be kept.
  for (const text of [
    "",
    "GET /callback HTTP/1.1\r\nHost",
    `GET /x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: keep-alive\r\n\r\n`,
  ]) {
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    sockets.push(socket.on("error", () => {}).resume());
    closed.push(new Promise((resolve) => socket.once("close", resolve)));
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.write(text);
  }
  const came = open(visit);
  await ask(visit.uri, "/callback?code=x&state=s");
  await came;
  await visit.close?.();
  await Promise.all(closed);
  await vi.waitFor(async () => expect(await reach("127.0.0.1", Number(port))).toBe("ECONNREFUSED"), 5000);
});

describe("it can be given up", () => {
  test("in the middle", async () => {
    const controller = new AbortController();
    const visit = await begin();
    const came = open(visit, controller.signal);
    controller.abort(new Error("enough"));
    await expect(came).rejects.toThrow("enough");
    expect((await ask(visit.uri, "/callback?code=x&state=s")).status).toBe(404);
  });

  test("while the browser does not open", async () => {
    const controller = new AbortController();
    const came = open(await begin({ open: () => new Promise(() => {}) }), controller.signal);
    controller.abort(new Error("enough"));
    await expect(came).rejects.toThrow("enough");
  });

  test("before: then nothing is opened", async () => {
    const opened = vi.fn();
    await expect(open(await begin({ open: opened }), AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    expect(opened).not.toHaveBeenCalled();
  });

  test("after some time, by itself", async () => {
    await expect(open(await begin({ timeoutMs: 50 }))).rejects.toMatchObject({
      code: "timeout",
      message: "Nobody came back from the authorization page in 0.05 s",
    });
  });
});

describe("a page that cannot be shown", () => {
  test("is an error of whoever was to show it", async () => {
    const failing = await begin({ open: () => Promise.reject(new Error("no display")) });
    await expect(open(failing)).rejects.toThrow("no display");
  });

  test("is an error where nobody is told the address", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const visit = await loopbackRedirect().begin();
    onTestFinished(() => visit.close?.());
    await expect(open(visit)).rejects.toMatchObject({
      code: "no_redirect",
      message: expect.stringMatching(/onUrl.*terminalRedirect/),
    });
  });

  test("is none where somebody is", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const told: string[] = [];
    const visit = await loopbackRedirect({ onUrl: ({ href }) => void told.push(href) }).begin();
    onTestFinished(() => visit.close?.());
    const came = open(visit);
    await vi.waitFor(() => expect(told).toEqual([page.href]));
    await ask(visit.uri, "/callback?code=x&state=s");
    expect(await came).toBe("code=x&state=s");
  });

  test("is refused where it is no page of the web", async () => {
    covers("security-auth-url-schemes");
    const visit = await loopbackRedirect().begin();
    onTestFinished(() => visit.close?.());
    const wrong = Promise.resolve(visit.open(new URL("javascript:alert(1)"), undefined));
    await expect(wrong).rejects.toMatchObject({ code: "unsafe_url" });
  });
});

describe("options", () => {
  test.each<[string, unknown, string]>([
    ["one that is misspelt", { onURL: () => {} }, 'did you mean "onUrl"'],
    ["a port in text", { port: "80" }, "whole number"],
    ["a port that there is not", { port: 65_536 }, "whole number"],
    ["a host for everybody", { host: "0.0.0.0" }, '"localhost"'],
    ["a path that is none", { path: 5 }, "path"],
    ["an opener that is none", { open: "firefox" }, "function"],
    ["a time without end", { timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
    ["no object", "http://127.0.0.1", "object of options"],
  ])("%s is refused with what to do", (_, options, remedy) => {
    expect(() => loopbackRedirect(options as LoopbackOptions)).toThrow(TypeError);
    expect(() => loopbackRedirect(options as LoopbackOptions)).toThrow(remedy);
  });
});

describe("an opener that says that it cannot", () => {
  test.each([
    ["at once", () => false],
    ["later", async () => false],
  ])("is an error, %s, where nobody is told the address", async (_, cannot) => {
    const visit = await begin({ open: cannot });
    await expect(open(visit)).rejects.toMatchObject({ code: "no_redirect", message: expect.stringContaining("onUrl") });
  });

  test("is none where somebody is", async () => {
    let told: URL | undefined;
    const visit = await begin({
      open: () => false,
      onUrl(url) {
        told = url;
      },
    });
    const came = open(visit);
    expect((await ask(visit.uri, "/callback?code=a&state=s")).status).toBe(200);
    expect(await came).toBe("code=a&state=s");
    expect(told?.href).toBe(page.href);
  });
});
