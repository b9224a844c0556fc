// The authorization server on Node, by itself: who may call it, what is too much, and how it ends.
import { connect as connectSocket } from "node:net";
import { type AuthorizationServer, createAuthorizationServer, fixedLogin } from "plenum/auth/authorization-server";
import {
  type AuthorizationServing,
  lookupAddresses,
  serveAuthorizationServer,
} from "plenum/auth/authorization-server/node";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { closeAfter, openStage, resource } from "./front-stage.ts";

async function open(): Promise<AuthorizationServing> {
  const serving = await serveAuthorizationServer((issuer) =>
    createAuthorizationServer({ issuer, resources: [resource], login: fixedLogin("alice") }),
  );
  closeAfter(() => serving.close(0));
  return serving;
}

/** What comes back for these bytes, until the connection ends. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    socket.on("end", () => resolve(text)).on("error", reject);
    socket.setTimeout(20_000, () => socket.destroy(new Error("no end")));
  });
}

test("it listens on this machine, at an address that its issuer can be", async () => {
  const { origin, host, port, server } = await open();
  expect([host, origin, server.issuer]).toEqual(["127.0.0.1", `http://127.0.0.1:${port}`, origin]);
  expect((await fetch(`${origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
  expect((await fetch(`${origin}/nothing`)).status).toBe(404);
});

test("a port that is taken is said so, and options that make no sense leave nothing open", async () => {
  const { port } = await open();
  const make = (issuer: string) => createAuthorizationServer({ issuer, resources: [], login: fixedLogin("alice") });
  await expect(serveAuthorizationServer(make, { port })).rejects.toThrow("EADDRINUSE");
  await expect(serveAuthorizationServer(make)).rejects.toThrow(TypeError);
});

test.each(["evil.example", "auth.example.com:80", "127.0.0.1.evil.example", "a@b", ""])(
  "who comes by the name %j finds nothing",
  async (name) => {
    const { port } = await open();
    const text = await exchange(port, `GET /jwks HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 421 /);
  },
);

test("a body that is too long is answered, and the connection ended", async () => {
  const { port } = await open();
  const head = `POST /token HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
  const text = await exchange(port, `${head}Content-Length: 40000\r\n\r\na=${"b".repeat(30_000)}`);
  expect(text).toMatch(/^HTTP\/1\.1 413 /);
  expect(text).toMatch(/^connection: close\r$/im);
});

test("pages of any origin may call what takes no cookie", async () => {
  const { origin } = await open();
  for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/jwks"]) {
    const response = await fetch(`${origin}${path}`, { headers: { origin: "https://app.example.com" } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  }
  for (const path of ["/token", "/register", "/revoke"]) {
    const response = await fetch(`${origin}${path}`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
    });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  }
  for (const path of ["/introspect", "/authorize"])
    expect(
      (await fetch(`${origin}${path}`, { headers: { origin: "https://app.example.com" } })).headers.get(
        "access-control-allow-origin",
      ),
    ).toBeNull();
});

test("only the well-known names of others are used, and none of its own", async () => {
  covers(["auth-discovery-as-metadata-offered"]);
  const { server } = await openStage();
  const names = Object.keys(server.routes).filter((path) => path.includes(".well-known"));
  expect(names.sort()).toEqual(["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]);
});

test("what runs may finish, and then it ends", async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isIn = (): void => {};
  const inside = new Promise<void>((resolve) => {
    isIn = resolve;
  });
  const serving = await serveAuthorizationServer((issuer) => {
    const server = createAuthorizationServer({ issuer, resources: [resource], login: fixedLogin("alice") });
    const answer: AuthorizationServer["answer"] = async () => {
      isIn();
      await gate;
      return { status: 200, headers: {}, text: "done" };
    };
    return { ...server, answer };
  });
  const running = fetch(`${serving.origin}/slow`);
  await inside;
  const closing = serving.close();
  release();
  expect(await (await running).text()).toBe("done");
  await closing;
  await expect(fetch(`${serving.origin}/jwks`)).rejects.toThrow();
});

test("names are looked up for the guard", async () => {
  expect(await lookupAddresses("localhost")).toEqual(
    expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]),
  );
});

test.each<[string, unknown, unknown, string]>([
  ["an option that is misspelt", () => made(), { prot: 1 }, 'did you mean "port"'],
  ["a port in text", () => made(), { port: "4000" }, "whole number"],
  ["a host that is none", () => made(), { host: "" }, "address"],
  ["a server that is none", { issuer: "http://127.0.0.1" }, {}, "createAuthorizationServer"],
  ["what makes none", () => undefined, {}, "createAuthorizationServer"],
])("%s is refused with what to do", async (_, server, options, remedy) => {
  const serving = serveAuthorizationServer(server as AuthorizationServer, options as object);
  await expect(serving).rejects.toThrow(TypeError);
  await expect(serving).rejects.toThrow(remedy);
});

function made(): AuthorizationServer {
  return createAuthorizationServer({
    issuer: "http://127.0.0.1:4000",
    resources: [resource],
    login: fixedLogin("alice"),
  });
}
