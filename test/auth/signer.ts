// Somebody who signs what others believe: an identity provider, a platform, a client with a key of its own. And what attackers make
// of the halves of keys that everybody knows.
import { exportSPKI, importJWK, type JSONWebKeySet, type JWK, type JWTPayload, SignJWT } from "jose";
import { makePair } from "./issuer.ts";

export type Header = { readonly typ?: string; readonly kid?: string };

export interface Signer {
  readonly privateKey: CryptoKey;
  /** The public half. */
  readonly jwk: JWK;
  readonly jwks: JSONWebKeySet;
  sign(claims: JWTPayload, header?: Header): Promise<string>;
  /** Signed with what everybody knows, as if it were a secret: for servers that let the token say how it is checked. */
  signWithPublicHalf(claims: JWTPayload, header?: Header): Promise<string[]>;
}

export async function createSigner(kid = "one", alg = "ES256"): Promise<Signer> {
  const { privateKey, jwk } = await makePair(kid, alg);
  return {
    privateKey,
    jwk,
    jwks: { keys: [jwk] },
    sign: (claims, header = {}) => new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
    async signWithPublicHalf(claims, header = {}) {
      const publicKey = (await importJWK(jwk, alg, { extractable: true })) as CryptoKey;
      const secrets = [await exportSPKI(publicKey), JSON.stringify(jwk), jwk.x ?? jwk.n ?? ""];
      return Promise.all(
        secrets.map((secret) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: "HS256", kid, ...header })
            .sign(new TextEncoder().encode(secret.padEnd(32, "\0"))),
        ),
      );
    },
  };
}

/** Signed by nobody. */
export function unsigned(claims: JWTPayload, header: Header = {}): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode({ alg: "none", ...header })}.${encode(claims)}.`;
}

export function nowS(): number {
  return Math.floor(Date.now() / 1000);
}
