import { expect, onTestFinished, test, vi } from "vitest";
import type { RouteAnswer } from "../route.ts";
import { assertLogin, fixedLogin, passwordLogin } from "./logins.ts";
import type { LoginRequest, User } from "./options.ts";

function toRequest(form?: { readonly [name: string]: string }): LoginRequest {
  return {
    ...{
      method: form ? "POST" : "GET",
      form: new URLSearchParams(form),
      action: "/login?request=<1>",
      csrf: "the token",
    },
    header: () => undefined,
  };
}

test("the page has what a form needs, and nothing of what was typed", async () => {
  const login = passwordLogin({ check: () => false });
  const page = (await login(toRequest())) as RouteAnswer;
  expect(page.body).toContain('action="/login?request=&lt;1&gt;"');
  expect(page.body).toContain('name="csrf" value="the token"');
  const again = (await login(toRequest({ username: "mallory", password: "guessed" }))) as RouteAnswer;
  expect(again.body).not.toMatch(/mallory|guessed/);
});

test.each([
  [true, { subject: "alice" }],
  [
    { subject: "1", claims: { email: "a@example.com" } },
    { subject: "1", claims: { email: "a@example.com" } },
  ],
])("a check that says %j", async (said: User | boolean, user) => {
  expect(await passwordLogin({ check: async () => said })(toRequest({ username: "alice", password: "x" }))).toEqual(
    user,
  );
});

test("what cannot be right is not checked", async () => {
  const check = vi.fn(() => true);
  const login = passwordLogin({ check });
  for (const form of [
    { username: "alice", password: "" },
    { username: "", password: "x" },
    { username: "x".repeat(257), password: "x" },
    { username: "alice", password: "x".repeat(257) },
  ])
    expect(await login(toRequest(form))).toHaveProperty("body");
  expect(check).not.toHaveBeenCalled();
});

test("all together have a limit, too", async () => {
  const check = vi.fn(() => false);
  const login = passwordLogin({ check, perMinute: 3 });
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => login(toRequest({ username: `user-${i}`, password: "x" }))),
  );
  expect(answers.filter((answer) => (answer as RouteAnswer).status === 429)).toHaveLength(3);
  expect(check).toHaveBeenCalledTimes(3);
});

test("what was tried for a name is not forgotten because of many others", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const check = vi.fn((_name: string) => false);
  const login = passwordLogin({ check, perMinuteAndName: 2, perMinute: 20 });
  const attempt = async (names: readonly string[]): Promise<void> => {
    const all = Promise.all(names.map((username) => login(toRequest({ username, password: "x" }))));
    await vi.advanceTimersByTimeAsync(250);
    await all;
  };
  await attempt(["alice", "alice", "alice"]);
  await attempt(Array.from({ length: 10_001 }, (_, i) => `user-${i}`));
  // One more for all together, and none for her.
  await vi.advanceTimersByTimeAsync(3000);
  check.mockClear();
  await attempt(["alice", "bob"]);
  expect(check.mock.calls.map(([name]) => name)).toEqual(["bob"]);
});

test("options that make no sense", () => {
  expect(() => passwordLogin({} as never)).toThrow(TypeError);
  expect(() => passwordLogin({ check: () => true, perMinute: 0 })).toThrow(TypeError);
});

test("the one for development is for this machine", async () => {
  const login = fixedLogin("alice");
  expect(await login(toRequest())).toEqual({ subject: "alice" });
  for (const issuer of ["http://127.0.0.1:3000", "http://localhost", "https://[::1]:3000"])
    expect(() => assertLogin(login, issuer)).not.toThrow();
  for (const issuer of ["https://auth.example.com", "https://127.0.0.1.example.com", "https://10.0.0.1"])
    expect(() => assertLogin(login, issuer)).toThrow(TypeError);
  expect(() => assertLogin(() => ({ subject: "alice" }), "https://auth.example.com")).not.toThrow();
});
