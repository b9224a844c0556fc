import { createDecipheriv, hkdfSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Endpoint, Rounds } from "../endpoint.ts";
import { McpError } from "../errors.ts";
import { type Vault, vaultOf } from "./state.ts";

const secret = new TextEncoder().encode("a secret of enough bytes");

function createVault(rounds?: Partial<Rounds>): { vault: Vault; reports: string[]; endpoint: Endpoint } {
  const reports: string[] = [];
  const endpoint = {
    report: (error: Error) => reports.push(error.message),
    ...(rounds && {
      rounds: { secrets: [secret], isGenerated: false, maxStateBytes: 1000, store: undefined, ...rounds },
    }),
  } as unknown as Endpoint;
  return { vault: vaultOf(endpoint), reports, endpoint };
}

describe("a vault", () => {
  test("opens what it sealed, whatever it is", async () => {
    const { vault } = createVault({});
    for (const value of [null, 0, "", "é\ud800", [1, { a: [] }], JSON.parse('{"__proto__":1}')])
      expect(await vault.open(await vault.seal(value))).toEqual(value);
  });

  test("seals with AES-256-GCM, with a key and an id that HKDF makes of the secret", async () => {
    const { vault } = createVault({});
    const [version, id, body] = (await vault.seal({ a: 1 })).split(".");
    const derive = (info: string, length: number): Buffer =>
      Buffer.from(hkdfSync("sha256", secret, new Uint8Array(), info, length));
    expect(version).toBe("v1");
    expect(id).toBe(derive("plenum requestState id", 6).toString("base64url"));
    const bytes = Buffer.from(body ?? "", "base64url");
    const cipher = createDecipheriv("aes-256-gcm", derive("plenum requestState", 32), bytes.subarray(0, 12));
    cipher.setAAD(Buffer.from(`v1.${id}`));
    cipher.setAuthTag(bytes.subarray(-16));
    const plain = Buffer.concat([cipher.update(bytes.subarray(12, -16)), cipher.final()]);
    // Filled up, so that its length says little.
    expect(plain.toString()).toBe('{"a":1}'.padEnd(256));
  });

  test("never seals the same way twice", async () => {
    const { vault } = createVault({});
    const texts = await Promise.all(Array.from({ length: 100 }, () => vault.seal("same")));
    expect(new Set(texts.map((text) => text.slice(12, 28))).size).toBe(100);
  });

  test("of an endpoint without secrets is its own, and of its copies with secrets is one", async () => {
    const [a, b] = [createVault(), createVault()];
    expect(a.vault).toBe(vaultOf(a.endpoint));
    await expect(b.vault.open(await a.vault.seal(1))).rejects.toThrow("sealed by another process");
    const c = createVault({});
    expect(vaultOf({ ...c.endpoint })).toBe(c.vault);
  });

  test("refuses with an McpError that says what to do", async () => {
    const { vault } = createVault({});
    for (const text of ["", "v1", "v1.x.y", `${await vault.seal(1)}AAAA`]) {
      const error = await vault.open(text).catch((refused) => refused);
      expect(error).toBeInstanceOf(McpError);
      expect(error).toMatchObject({
        code: "invalid_params",
        message:
          "Invalid requestState: it was changed or cut off on its way. Start the call again without requestState",
      });
    }
  });

  test("knows its own by their key", async () => {
    const [mine, other] = [createVault({}), createVault()];
    expect(await mine.vault.isOurs(await mine.vault.seal(1))).toBe(true);
    expect(await mine.vault.isOurs(await other.vault.seal(1))).toBe(false);
    for (const text of ["", "v1.", "v1.mine.state"]) expect(await mine.vault.isOurs(text)).toBe(false);
  });

  test("is bounded in both directions", async () => {
    const { vault } = createVault({ maxStateBytes: 400 });
    await expect(vault.seal("x".repeat(300))).rejects.toThrow(/take 7\d\d characters, and 400 may travel/);
    const wide = createVault({}).vault;
    await expect(vault.open(await wide.seal("x".repeat(300)))).rejects.toThrow("it is longer than 400 characters");
    expect(await vault.open(await vault.seal("x".repeat(100)))).toBe("x".repeat(100));
  });

  test("warns once of each thing", () => {
    const { vault, reports } = createVault({});
    for (const text of ["a", "b", "a"]) vault.warn(text);
    expect(reports).toEqual(["a", "b"]);
  });
});
