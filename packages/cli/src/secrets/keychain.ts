// The keychain of the system: Keychain on macOS, Credential Manager on Windows, the Secret Service (GNOME Keyring, KWallet, KeePassXC) on
// Linux. The package that speaks to them is optional, and loaded by the first who needs it.
import { existsSync } from "node:fs";
import { Failure } from "../failure.ts";

export interface SecretPlace {
  readonly service: string;
  readonly account: string;
}

/** Whose the secrets are that are named without a service. */
const ownService = "plenum";

/** `NAME`, or `SERVICE/ACCOUNT` for one that another program keeps. */
export function toSecretPlace(text: string): SecretPlace {
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1) return { service: ownService, account: text };
  return { service: text.slice(0, slash), account: text.slice(slash + 1) };
}

/** Without the service where it is ours. */
export function formatSecretPlace({ service, account }: SecretPlace): string {
  return service === ownService ? account : `${service}/${account}`;
}

/** @param variable what it is for, in messages */
export async function readSecret(place: SecretPlace, variable: string): Promise<string> {
  const name = formatSecretPlace(place);
  const value = await withEntry(place, (entry) => entry.getPassword());
  if (value !== null) return value;
  throw new Failure("usage", `${variable} is taken from the keychain, which has no "${name}"`, {
    code: "secret_not_found",
    hint: `Put it in: plenum secret set ${name}`,
  });
}

export async function writeSecret(place: SecretPlace, value: string): Promise<void> {
  await withEntry(place, (entry) => entry.setPassword(value));
}

/** Whether there was one. */
export async function deleteSecret(place: SecretPlace): Promise<boolean> {
  return withEntry(place, (entry) => entry.deletePassword());
}

type Keyring = typeof import("@napi-rs/keyring");

async function withEntry<T>(
  { service, account }: SecretPlace,
  run: (entry: InstanceType<Keyring["AsyncEntry"]>) => Promise<T>,
): Promise<T> {
  const { AsyncEntry } = await loadKeyring();
  findBus();
  try {
    // The kernel's keyring, which it would fall back to, forgets at the next start of the machine.
    return await run(new AsyncEntry(service, account, { linux: { store: "secret-service" } }));
  } catch (error) {
    throw new Failure("usage", `The keychain of this system cannot be used: ${(error as Error).message}`, {
      code: "no_keychain",
      hint:
        process.platform === "linux"
          ? "It needs a Secret Service, such as GNOME Keyring, in a session that is unlocked. Without one, use @file:PATH or @env:NAME."
          : "Is it unlocked? @file:PATH and @env:NAME work without it.",
      cause: error,
    });
  }
}

async function loadKeyring(): Promise<Keyring> {
  try {
    return await import("@napi-rs/keyring");
  } catch (error) {
    throw new Failure("usage", "The keychain of this system cannot be used: @napi-rs/keyring is not installed", {
      code: "no_keychain",
      hint: "It is an optional dependency: npm install @napi-rs/keyring. @file:PATH and @env:NAME work without it.",
      cause: error,
    });
  }
}

/** Hosts start servers with a few variables, and that of the bus is not among them; its usual place is known. */
function findBus(): void {
  if (process.platform !== "linux" || process.env.DBUS_SESSION_BUS_ADDRESS) return;
  const path = `${process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid?.()}`}/bus`;
  if (existsSync(path)) process.env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${path}`;
}
