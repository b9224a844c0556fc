import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSealer as create, type Sealer } from "./seal.ts";
import { type Secret, toSecrets } from "./secret.ts";

const secret = "a secret of enough bytes";

const createSealer = (given?: Secret | readonly Secret[], maxLength?: number): Sealer =>
  create(toSecrets(given), maxLength);

describe("seal", () => {
  test("what is sealed opens, for any text", async () => {
    const sealer = createSealer(secret);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), async (purpose, payload) => {
        const sealed = await sealer.seal(purpose, payload);
        expect(sealed.slice(0, 65)).toMatch(/^[0-9a-f]{64}\.$/);
        expect(await sealer.open(purpose, sealed)).toBe(payload);
      }),
    );
    expect(await sealer.open("p", await sealer.seal("p", "\ufeffmark"))).toBe("\ufeffmark");
  });

  test("no change of any one character goes unseen", async () => {
    const sealer = createSealer(secret);
    const sealed = await sealer.seal("cursor", "page 2");
    for (let at = 0; at < sealed.length; at++) {
      for (const char of ["A", "B", "_", ".", "=", ""]) {
        if (char === sealed[at]) continue;
        const changed = sealed.slice(0, at) + char + sealed.slice(at + 1);
        expect(await sealer.open("cursor", changed), changed).toBeUndefined();
      }
    }
  });

  test("purpose and payload cannot be shifted into one another", async () => {
    const sealer = createSealer(secret);
    expect(await sealer.open("a", await sealer.seal("b", "c"))).toBeUndefined();
    expect(await sealer.open("a", await sealer.seal("ab", "c"))).toBeUndefined();
    // The same bytes in a row, divided elsewhere.
    const [tag] = (await sealer.seal("ab", "c")).split(".");
    expect(await sealer.open("a", `${tag}.bc`)).toBeUndefined();
    const [half] = (await sealer.seal("a", "\ud800")).split(".");
    expect(await sealer.open("a", `${half}.\ufffd`)).toBeUndefined();
  });

  test("secrets: bytes and text agree, others do not open, the default is random", async () => {
    const sealed = await createSealer(secret).seal("p", "x");
    expect(await createSealer(new TextEncoder().encode(secret)).open("p", sealed)).toBe("x");
    expect(await createSealer(`${secret}!`).open("p", sealed)).toBeUndefined();
    const random = createSealer();
    expect(await random.open("p", await random.seal("p", "x"))).toBe("x");
    expect(await createSealer().open("p", await random.seal("p", "x"))).toBeUndefined();
    expect(() => createSealer("short")).toThrow("16 bytes");
  });

  test("of several secrets the first seals and all open", async () => {
    const [old, next, third] = ["the secret of yesterday", "the secret of tomorrow", new Uint8Array(16).fill(7)];
    const [before, during, after] = [createSealer(old), createSealer([next, old, third]), createSealer([next])];
    const sealed = await before.seal("p", "x");
    expect(await during.open("p", sealed)).toBe("x");
    expect(await after.open("p", sealed)).toBeUndefined();
    expect(await during.open("p", await createSealer(third).seal("p", "y"))).toBe("y");
    const resealed = await during.seal("p", "x");
    expect(await after.open("p", resealed)).toBe("x");
    expect(await before.open("p", resealed)).toBeUndefined();
    expect(await during.open("q", sealed)).toBeUndefined();
  });

  test.each<readonly Secret[]>([[], ["short"], [secret, "short"], [new Uint8Array(15), secret]])(
    "no list of secrets: %j, %j",
    (...secrets) => {
      expect(() => toSecrets(secrets)).toThrow(TypeError);
    },
  );

  test("a secret that its owner changes later is no other secret", async () => {
    const bytes = new Uint8Array(32);
    const sealer = createSealer(bytes);
    bytes.fill(1);
    expect(await createSealer(new Uint8Array(32)).open("p", await sealer.seal("p", "x"))).toBe("x");
  });

  test.each(["", ".", "..", "abc", "a.b", "é.é", `${"0".repeat(64)}.`])("%j does not open", async (sealed) => {
    expect(await createSealer(secret).open("p", sealed)).toBeUndefined();
  });

  test("length is bounded", async () => {
    const sealer = createSealer(secret);
    const longest = await sealer.seal("p", "x".repeat(4031));
    expect(longest).toHaveLength(4096);
    expect(await sealer.open("p", longest)).toBe("x".repeat(4031));
    expect(await sealer.open("p", await sealer.seal("p", "x".repeat(4032)))).toBeUndefined();

    const wide = createSealer(secret, 10_000);
    const long = await wide.seal("p", "x".repeat(5000));
    expect(await wide.open("p", long)).toBe("x".repeat(5000));
    expect(await sealer.open("p", long)).toBeUndefined();
  });
});
