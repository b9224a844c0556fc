import { describe, expect, test, vi } from "vitest";
import { createGuardedFetch, isPrivateAddress, toSafeUrl } from "./guarded-fetch.ts";

const answer = (text: string, init?: ResponseInit) => vi.fn(async () => new Response(text, init));

describe("an address", () => {
  test.each(["https://example.com/a", "http://localhost:8080/", "http://127.0.0.1/", "http://[::1]:3000/"])(
    "%s is asked",
    (url) => {
      expect(toSafeUrl(url).href).toBe(url);
    },
  );

  test.each([
    "http://example.com/",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "vbscript:x",
    "com.example:/x",
    "https://user:secret@example.com/",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "nothing",
    "",
    "https://example.com/\nplenum: all is well",
    "https://example.com/\u001b[2K",
    "https://example.com/\u202e",
    " https://example.com/",
  ])("%j is not", (url) => {
    expect(() => toSafeUrl(url)).toThrow(expect.objectContaining({ code: "unsafe_url" }));
  });

  test("is not as long as one likes", () => {
    expect(() => toSafeUrl(`https://example.com/${"a".repeat(8192)}`)).toThrow("names a URL that is none");
  });

  test("an error does not show what is secret in it", () => {
    expect(() => toSafeUrl("https://user:secret@example.com/?token=hidden")).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/secret|hidden/) }),
    );
  });
});

test.each([
  "10.0.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "fe80::1",
  "fc00::1",
  "fd12::1",
  "::ffff:10.0.0.1",
  "::ffff:a00:1",
  "64:ff9b::7f00:1",
  "64:ff9b:1::1",
  "::7f00:1",
  "::ffff:0:a00:1",
  "fec0::1",
  "2001::1",
  "2001:0:1::1",
  "2001:db8::1",
  "2002:7f00:1::",
])("%s is of one's own network", (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each([
  "8.8.8.8",
  "172.32.0.1",
  "100.128.0.1",
  "192.169.0.1",
  "2606:4700::1111",
  "2001:4860::8888",
  "::ffff:8.8.8.8",
])("%s is of the world", (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});

describe("a service", () => {
  const lookup = async (host: string) => (host === "inside.example" ? ["8.8.8.8", "10.1.2.3"] : ["8.8.8.8"]);

  test.each([
    "https://10.0.0.1/",
    "https://169.254.169.254/",
    "https://[::1]/",
    "https://localhost/",
    "https://localhost./",
    "https://a.localhost/",
    "https://0x7f.1/",
    "http://localhost/",
  ])("does not go to %s", async (url) => {
    const fetch = answer("secret");
    const guarded = createGuardedFetch({ fetch, blockPrivateAddresses: true, lookup });
    await expect(guarded(url)).rejects.toMatchObject({ code: "unsafe_url" });
    expect(fetch).not.toHaveBeenCalled();
  });

  test("does not go where a name leads inside", async () => {
    const fetch = answer("secret");
    const guarded = createGuardedFetch({ fetch, blockPrivateAddresses: true, lookup });
    await expect(guarded("https://inside.example/")).rejects.toMatchObject({ code: "unsafe_url" });
    expect(fetch).not.toHaveBeenCalled();
    expect(await (await guarded("https://outside.example/")).text()).toBe("secret");
  });

  test.each(["0:0:0:0:0:0:0:1", "0:0:0:0:0:FFFF:127.0.0.1", "::1%lo", "127.1", "2130706433", "inside", ""])(
    "does not go where a name leads to %j",
    async (address) => {
      const guarded = createGuardedFetch({
        fetch: answer("secret"),
        blockPrivateAddresses: true,
        lookup: async () => [address],
      });
      await expect(guarded("https://outside.example/")).rejects.toMatchObject({ code: "unsafe_url" });
    },
  );
});

describe("an answer", () => {
  test("that leads where the runtime does not tell is not followed", async () => {
    const opaque = async () => Object.defineProperty(new Response(), "type", { value: "opaqueredirect" });
    await expect(createGuardedFetch({ fetch: opaque })("https://example.com/")).rejects.toMatchObject({
      code: "unsafe_url",
    });
  });

  test("that leads to another origin is not followed, within one it is", async () => {
    const fetch = vi.fn(async (url: string) =>
      url.endsWith("/a")
        ? new Response(null, { status: 302, headers: { location: "/b" } })
        : url.endsWith("/b")
          ? new Response("here")
          : new Response(null, { status: 307, headers: { location: "https://evil.example/" } }),
    );
    const guarded = createGuardedFetch({ fetch });
    expect(await (await guarded("https://example.com/a")).text()).toBe("here");
    await expect(guarded("https://example.com/c")).rejects.toMatchObject({ code: "unsafe_url" });
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  test("to what was sent is not sent on, not even within one origin", async () => {
    const fetch = answer("", { status: 307, headers: { location: "/b" } });
    const guarded = createGuardedFetch({ fetch });
    await expect(guarded("https://example.com/token", { method: "POST", body: "code=1" })).rejects.toMatchObject({
      code: "unsafe_url",
    });
    expect(fetch).toHaveBeenCalledOnce();
  });

  test("without end is cut off, and so is one that does not come", async () => {
    const endless = async () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100_000)) }));
    await expect(createGuardedFetch({ fetch: endless })("https://example.com/")).rejects.toMatchObject({
      code: "unsafe_url",
    });
    const never = (_: string, init?: RequestInit) =>
      new Promise<Response>((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );
    const deaf = () => new Promise<Response>(() => {});
    // Begins, and then says nothing more.
    const half = async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
    for (const fetch of [never, deaf, half])
      await expect(createGuardedFetch({ fetch, timeoutMs: 20 })("https://example.com/")).rejects.toMatchObject({
        code: "timeout",
      });
    const lookup = () => new Promise<string[]>(() => {});
    const looking = createGuardedFetch({ blockPrivateAddresses: true, lookup, timeoutMs: 20 });
    await expect(looking("https://example.com/")).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("who cannot be reached", () => {
  const fail = (error: unknown) => createGuardedFetch({ fetch: () => Promise.reject(error) });

  test("is named with the reason, and without what may be secret", async () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:443"), { code: "ECONNREFUSED" });
    const asked = fail(new TypeError("fetch failed", { cause }))("https://example.com/a?secret=1");
    await expect(asked).rejects.toThrow(
      "https://example.com/a could not be reached: connect ECONNREFUSED 10.0.0.1:443. Is the server running, and is this its port?",
    );
  });

  test("is no matter for who has left", async () => {
    const reason = new Error("enough");
    const asked = fail(reason)("https://example.com/", { signal: AbortSignal.abort(reason) });
    await expect(asked).rejects.toBe(reason);
  });
});
