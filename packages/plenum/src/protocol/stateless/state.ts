// `requestState`: what a call has to know when it goes on, carried by the client, who can neither read nor change it.
// AES-256-GCM; keys come from the endpoint's secrets by HKDF, and each is found by an id made from it, so that a secret
// can be changed while states of the old one are about. Specification: basic/patterns/mrtr § Server Requirements.
import { decodeBase64Url, encodeBase64Url } from "../../util/base64url.ts";
import type { Endpoint, Rounds } from "../endpoint.ts";
import { McpError } from "../errors.ts";

export interface Vault extends Rounds {
  /** Whether the text says that it was sealed with one of our keys. */
  isOurs(text: string): Promise<boolean>;
  /** The value as text that only `open` reads. Throws McpError for one that is too large. */
  seal(value: unknown): Promise<string>;
  /** The value that was sealed. Throws McpError `invalid_params` for any other text. */
  open(text: string): Promise<unknown>;
  /** Tells whoever runs the endpoint, the first time. */
  warn(text: string): void;
}

interface Key {
  readonly id: string;
  readonly key: CryptoKey;
}

const vaults = new WeakMap<object, Vault>();

/** The vault of an endpoint; copies of an endpoint share theirs. */
export function vaultOf(endpoint: Endpoint): Vault {
  const owner = endpoint.rounds ?? endpoint;
  let vault = vaults.get(owner);
  if (!vault) {
    vault = createVault(endpoint);
    vaults.set(owner, vault);
  }
  return vault;
}

/** @param why what is wrong with the state, in words */
export function refuse(why: string): McpError {
  return new McpError("invalid_params", `Invalid requestState: ${why}. Start the call again without requestState`);
}

/** A failure that is ours and not the client's, told to both. */
export function fail(endpoint: Endpoint, method: string, message: string): McpError {
  endpoint.report(new Error(message), { method });
  return new McpError("internal_error", message);
}

const form = /^v1\.([\w-]{8})\.([\w-]+)$/;

function createVault(endpoint: Endpoint): Vault {
  const rounds: Rounds = endpoint.rounds ?? {
    secrets: [crypto.getRandomValues(new Uint8Array(32))],
    isGenerated: true,
    maxStateBytes: 131_072,
    store: undefined,
  };
  const told = new Set<string>();
  let derived: Promise<readonly Key[]> | undefined;
  const keys = (): Promise<readonly Key[]> => {
    derived ??= Promise.all(rounds.secrets.map(toKey));
    return derived;
  };

  const vault: Vault = {
    ...rounds,
    async isOurs(text) {
      const id = form.exec(text)?.[1];
      return (await keys()).some((key) => key.id === id);
    },
    async seal(value) {
      const [first] = await keys();
      const { id, key } = first as Key;
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const additionalData = toBytes(`v1.${id}`);
      const plain = pad(toBytes(JSON.stringify(value)));
      const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, key, plain));
      const bytes = new Uint8Array(iv.length + sealed.length);
      bytes.set(iv);
      bytes.set(sealed, iv.length);
      const text = `v1.${id}.${encodeBase64Url(bytes)}`;
      if (text.length <= rounds.maxStateBytes) return text;
      throw new RangeError(
        `its answers and steps take ${text.length} characters, and ${rounds.maxStateBytes} may travel in requestState (maxStateBytes): keep what is large elsewhere, and give back its id from ctx.step`,
      );
    },
    async open(text) {
      if (text.length > rounds.maxStateBytes) throw refuse(`it is longer than ${rounds.maxStateBytes} characters`);
      const [, id, body = ""] = form.exec(text) ?? [];
      const bytes = decodeBase64Url(body);
      if (id === undefined || !bytes || bytes.length < 28) throw refuse("it was changed or cut off on its way");
      const key = (await keys()).find((candidate) => candidate.id === id)?.key;
      if (!key) {
        if (rounds.isGenerated)
          vault.warn("A requestState came that another process sealed. Give all nodes the same secret (createServer)");
        throw refuse("it was sealed by another process or with an old key; all nodes need the same secret");
      }
      const iv = bytes.subarray(0, 12);
      const additionalData = toBytes(`v1.${id}`);
      let plain: ArrayBuffer;
      try {
        plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData }, key, bytes.subarray(12));
      } catch {
        throw refuse("it was changed or cut off on its way");
      }
      return JSON.parse(new TextDecoder().decode(plain));
    },
    warn(text) {
      if (!told.has(text)) endpoint.report(new Error(text), { method: "requestState" });
      told.add(text);
    },
  };
  return vault;
}

async function toKey(secret: Uint8Array): Promise<Key> {
  const source = await crypto.subtle.importKey("raw", Uint8Array.from(secret), "HKDF", false, ["deriveBits"]);
  const derive = (info: string, bits: number): Promise<ArrayBuffer> => {
    const algorithm = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: toBytes(info) };
    return crypto.subtle.deriveBits(algorithm, source, bits);
  };
  const raw = await derive("plenum requestState", 256);
  return {
    id: encodeBase64Url(new Uint8Array(await derive("plenum requestState id", 48))),
    key: await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]),
  };
}

/** Blanks, which JSON may end with: how long a state is says little of what is in it. */
function pad(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(Math.ceil(bytes.length / 256) * 256).fill(0x20);
  padded.set(bytes);
  return padded;
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
