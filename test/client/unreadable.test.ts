// Messages that cannot be read, or not be written: whoever waits for an answer hears so at once, and not when its time is up.
import { describe, expect, test } from "vitest";
import { nest } from "./fixtures/workshop.ts";
import { eachWay, errorOf, openScript, serveWorkshop } from "./harness.ts";

describe.each(eachWay())("$revision over $transport", ({ revision, transport }) => {
  const open = async () => openScript(await serveWorkshop(transport), { revision, timeoutMs: 10_000 });

  test("a request that is nested too deep is answered with an error", async () => {
    const client = await open();
    const { code, message, rpcCode } = await errorOf(client.callTool("echo", { text: nest(200) as never }));
    // Of the older transport's POST only the status is looked at.
    expect([code, rpcCode]).toEqual(["peer_error", transport === "sse" ? undefined : -32600]);
    expect(message).toMatch(/^tools\/call "echo" .*JSON nested deeper than 128 levels/);
    expect(await client.request("workshop/tidy", { room: nest(100) })).toMatchObject({ tidied: nest(100) });
  });

  test("an answer that is nested too deep is told as that", async () => {
    const client = await open();
    const { code, message } = await errorOf(client.request("workshop/nest", { levels: 200 }));
    expect(code).toBe("invalid_result");
    expect(message).toBe("workshop/nest was answered with JSON nested deeper than 128 levels");
    expect(await client.request("workshop/nest", { levels: 100 })).toMatchObject({ nested: nest(100) });
  });

  test("an answer that cannot be written is an internal error with an id", async () => {
    const client = await open();
    const { code, message, data } = await errorOf(client.request("workshop/big"));
    const { errorId } = data as { errorId: string };
    expect([code, errorId]).toEqual(["peer_error", expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(message).toBe(`workshop/big was answered with error -32603: Internal error (${errorId})`);
  });

  test("arguments that cannot be written are refused before anything is sent", async () => {
    const client = await open();
    const cycle: { text?: unknown } = {};
    cycle.text = cycle;
    const asked: [unknown, RegExp][] = [
      [{ text: 1n }, /^tools\/call "echo" cannot be sent: Do not know how to serialize a BigInt$/],
      [cycle, /^tools\/call "echo" cannot be sent: Converting circular structure to JSON [^\n]*$/],
    ];
    for (const [args, form] of asked) {
      const error = await errorOf(client.callTool("echo", args as never, { onProgress: () => {} }));
      expect([error.code, error.message]).toEqual(["invalid_params", expect.stringMatching(form)]);
      expect(error.cause).toBeInstanceOf(TypeError);
    }
    expect((await client.callTool("echo", { text: "hello" })).text).toBe("hello");
  });
});
