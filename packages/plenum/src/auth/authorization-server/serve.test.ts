import { expect, test } from "vitest";
import type { Routes } from "../route.ts";
import { readBody } from "./body.ts";
import { AuthFault } from "./fault.ts";
import { answerRequest, toFetchHandler } from "./serve.ts";

async function* parts(...texts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield typeof text === "string" ? new TextEncoder().encode(text) : text;
}

test("a body is read whole, whatever its pieces", async () => {
  const [a, b] = [new Uint8Array([0xc3]), new Uint8Array([0xbc])];
  expect(await readBody(parts("gr", a, b, "n"), 100, 1000)).toBe("grün");
  expect(await readBody(parts(), 100, 1000)).toBe("");
});

test("a body that is too long, too slow or no text is refused", async () => {
  await expect(readBody(parts("12345", "6"), 5, 1000)).rejects.toMatchObject({ status: 413 });
  await expect(readBody(parts(new Uint8Array([0xff])), 5, 1000)).rejects.toMatchObject({ status: 400 });
  await expect(readBody(parts(new Uint8Array([0xc3])), 5, 1000)).rejects.toMatchObject({ status: 400 });
  const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
  await expect(readBody(never, 5, 10)).rejects.toMatchObject({ status: 408 });
});

const routes: Routes = {
  "/text": () => ({ body: "hello" }),
  "/json": ({ query, header }) => ({ status: 201, headers: { "x-a": "b" }, body: { query, accept: header("accept") } }),
  "/none": () => ({ status: 204 }),
  "/echo": async (request) => ({ body: await request.body(10, 1000) }),
  "/fault": () => {
    throw new AuthFault("invalid_request", "No");
  },
  "/broken": () => {
    throw new Error("the password of the store");
  },
};
const reported: unknown[] = [];
const fetch = toFetchHandler((request) =>
  answerRequest(routes, request, (error, about) => {
    reported.push([String(error), about]);
    throw new Error("the log is full");
  }),
);
const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(new Request(`https://auth.example.com${path}`, init));

test("routes answer requests", async () => {
  const text = await get("/text");
  expect([text.status, text.headers.get("content-type"), await text.text()]).toEqual([
    200,
    "text/plain; charset=utf-8",
    "hello",
  ]);
  const json = await get("/json?a=b", { headers: { accept: "application/json" } });
  expect([json.status, json.headers.get("x-a"), await json.json()]).toEqual([
    201,
    "b",
    { query: "a=b", accept: "application/json" },
  ]);
  expect(await (await get("/text", { method: "HEAD" })).text()).toBe("");
  expect((await get("/none")).status).toBe(204);
  expect(await (await get("/echo", { method: "POST", body: "abc" })).text()).toBe("abc");
  expect((await get("/echo", { method: "POST", body: "a".repeat(11) })).status).toBe(413);
});

test.each(["/nowhere", "/text/", "/TEXT", "/constructor", "/__proto__", "/"])("%s is not there", async (path) => {
  expect((await get(path)).status).toBe(404);
});

test("what goes wrong here is told to nobody outside", async () => {
  const broken = await get("/broken");
  expect([broken.status, await broken.json()]).toEqual([
    500,
    { error: "server_error", error_description: expect.not.stringContaining("password") },
  ]);
  expect((await get("/fault")).status).toBe(400);
  expect(reported).toEqual([["Error: the password of the store", { path: "/broken" }]]);
});
