import { expect, test } from "vitest";
import { ask, makeForm, makeRequest } from "../../../../../test/auth/as-ground.ts";
import { endpoint, readForm } from "./endpoint.ts";
import { AuthFault } from "./fault.ts";

const echo = endpoint({ method: "POST" }, async (request) => ({ body: Object.fromEntries(await readForm(request)) }));

test("a form is read once, and what is empty is not there", async () => {
  expect(await ask(echo, makeForm("a=1&b=&c=%20x%2B"))).toMatchObject({ status: 200, body: { a: "1", c: " x+" } });
  expect((await ask(echo, makeForm("a=1&b="))).body).not.toHaveProperty("b");
});

test.each(["a=1&a=2", "a=1&a=1", "a=&a=1", "a=1&%61=2"])("%s says two things", async (form) => {
  expect(await ask(echo, makeForm(form))).toMatchObject({ status: 400, body: { error: "invalid_request" } });
});

test.each(["application/json", "text/plain", "multipart/form-data; boundary=x", ""])("%s is no form", async (type) => {
  expect(await ask(echo, makeForm("a=1", { "content-type": type }))).toMatchObject({ status: 400 });
});

test("a form may say how its letters are written", async () => {
  const type = "application/x-www-form-urlencoded; charset=UTF-8";
  expect(await ask(echo, makeForm("a=1", { "content-type": type }))).toMatchObject({ status: 200 });
});

test("browsers are told that pages of any origin may call, without cookies", async () => {
  const { status, headers } = await ask(echo, makeRequest("OPTIONS"));
  expect(status).toBe(204);
  expect(headers).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST, OPTIONS",
    "access-control-allow-headers": expect.stringContaining("authorization"),
  });
  expect(headers).not.toHaveProperty("access-control-allow-credentials");
  const shut = endpoint({ method: "POST", isOpen: false }, () => ({}));
  expect((await ask(shut, makeRequest("OPTIONS"))).headers).not.toHaveProperty("access-control-allow-origin");
});

test("a fault is told as OAuth has it, with the headers of any answer", async () => {
  const route = endpoint({ method: "POST" }, () => {
    throw new AuthFault("invalid_client", "No", 401, { "www-authenticate": "Basic" });
  });
  expect(await ask(route, makeForm(""))).toEqual({
    status: 401,
    headers: {
      "cache-control": "no-store",
      pragma: "no-cache",
      "www-authenticate": "Basic",
      "x-content-type-options": "nosniff",
      "access-control-allow-origin": "*",
    },
    body: { error: "invalid_client", error_description: "No" },
  });
});

test("what is our own trouble is not told as the caller's", async () => {
  const route = endpoint({ method: "GET" }, () => {
    throw new Error("the store is gone");
  });
  await expect(ask(route, makeRequest("GET"))).rejects.toThrow("the store is gone");
  expect(await ask(route, makeRequest("DELETE"))).toMatchObject({ status: 405 });
});
