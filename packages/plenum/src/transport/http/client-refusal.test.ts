// What a status that says no means: whether the session is gone, and what of it people may read.
import { describe, expect, test } from "vitest";
import { Stop } from "../../util/stop.ts";
import { toAnswer } from "./client-fetch.ts";
import { type HttpRefusal, isForgotten, readRefusal, toRefused } from "./client-refusal.ts";

const refusal = (status: number, message?: string, id?: number, code = -32000): HttpRefusal => ({
  status,
  statusText: "",
  error: message === undefined ? undefined : { code, message },
  id,
  excerpt: "",
  realm: undefined,
});

describe("a session is gone", () => {
  test("by 404, unless that is an answer to what was asked", () => {
    expect(isForgotten(refusal(404), 7)).toBe(true);
    expect(isForgotten(refusal(404, "no"), 7)).toBe(true);
    expect(isForgotten(refusal(404, "no", 8), 7)).toBe(true);
    expect(isForgotten(refusal(404, "Unknown tool: a", 7, -32602), 7)).toBe(false);
    expect(isForgotten(refusal(404, "Unknown tool: session", 7, -32602), 7)).toBe(false);
    expect(isForgotten(refusal(404, "no", 7, -32601), 7)).toBe(false);
    expect(isForgotten(refusal(404, "no", 7, -32001), 7)).toBe(true);
    expect(isForgotten(refusal(404, "Session not found", 7), 7)).toBe(true);
  });

  test.each([
    "Session not found",
    "Session 0a1b-2c not found",
    "The session does not exist",
    "Session has expired",
    "Session ID is invalid",
    "session was terminated",
    "Bad Request: No valid session ID provided",
    "Invalid or missing session ID",
    "Unknown session",
    "No such session",
    "Invalid mcp-session-id",
    "Mcp-Session-Id header is missing",
  ])("by 400 and %s", (words) => {
    expect(isForgotten(refusal(400, words), 7)).toBe(true);
    // An error for a request is an answer to it.
    expect(isForgotten(refusal(400, words, 7), 7)).toBe(false);
    expect(isForgotten(refusal(500, words), 7)).toBe(false);
  });

  test.each([
    "Browser session crashed while clicking 'Buy'",
    "The session store is full",
    "Unknown tool: session",
    "Bad Request",
  ])("not by 400 and %s", (words) => {
    expect(isForgotten(refusal(400, words), 7)).toBe(false);
  });
});

describe("what a server sends back", () => {
  const url = new URL("https://example.com/mcp?key=query%20secret&flag");
  const given = { authorization: "Bearer token-secret", "x-short": "ab" };
  const read = async (body: string, status: number, headers: Record<string, string> = {}, session = "id-secret") => {
    const response = new Response(body, { status, statusText: "No id-secret", headers });
    const answer = toAnswer(response, new Stop());
    answer.sent = { url, given, own: { "mcp-session-id": session } };
    return readRefusal(answer);
  };

  test("is shown without what it was given", async () => {
    const said = "id-secret Bearer token-secret token-secret query%20secret query secret ab";
    for (const body of [said, JSON.stringify({ jsonrpc: "2.0", error: { code: 1, message: said } })]) {
      const found = await read(body, 401, { "www-authenticate": 'Bearer realm="token-secret"' });
      const { message } = toRefused(found, "tools/call");
      expect(`${message}${found.error?.message}`).not.toMatch(/secret/);
      expect(message).toContain('HTTP 401 No ***: "*** *** *** *** *** ab"');
      expect(message).toContain('for "***"');
    }
  });

  test("gets advice about authorization, unless it is about where the request goes or comes from", async () => {
    const advised = async (message: string) =>
      toRefused(await read(JSON.stringify({ jsonrpc: "2.0", error: { code: 1, message } }), 403), "ping").message;
    for (const about of ["Forbidden", "The ghost writer may not do that"])
      expect(await advised(about)).toContain("another authorization may help");
    for (const about of ['Host "a.example" is not allowed', "Invalid Origin header: https://b.example"])
      expect(await advised(about)).toMatch(/"$/);
  });

  test("is read as it came: what is short spoils nothing", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 2, error: { code: -32602, message: "bad args" } });
    const found = await read(body, 400, { "content-type": "application/json" }, "2");
    expect(found).toMatchObject({ id: 2, error: { code: -32602, message: "bad args" } });
    const digits = await read(body, 400, { "content-type": "application/json" }, "32602");
    expect(digits).toMatchObject({ id: 2, error: { code: -32602 } });
  });
});
