// A server as any host has it: what its entry says, in words of our own. Reading is lenient, since hosts take over each other's words;
// writing is exact, by the form of the host.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

export interface CommandRecord {
  readonly kind: "command";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string | undefined;
  /** A file with more variables; VS Code has that. */
  readonly envFile?: string | undefined;
  /** Variables that the host takes from its own environment, or from a store that only it can open. */
  readonly inherited?: readonly string[] | undefined;
}

export interface UrlRecord {
  readonly kind: "url";
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** Headers whose values the host takes from variables. */
  readonly headerVariables?: { readonly [name: string]: string } | undefined;
  readonly bearerVariable?: string | undefined;
}

/** What is in an entry that names neither a command nor a URL, such as an extension that the host brings itself. */
export interface OtherRecord {
  readonly kind: "other";
}

export type ServerRecord = CommandRecord | UrlRecord | OtherRecord;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one !== "object").map(String) : [];

/** Numbers and booleans count as their text: so do hosts. */
function tableOf(value: unknown): { [name: string]: string } {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null && typeof one !== "object")
      .map(([name, one]) => [name, String(one)]),
  );
}

/** What the entry of a host's file says. */
export function toRecord(raw: unknown): ServerRecord {
  if (!isObject(raw)) return { kind: "other" };
  const url = [raw.url, raw.httpUrl, raw.serverUrl, raw.uri].map(textOf).find((one) => one !== undefined);
  // Zed once had { command: { path, args, env } }, OpenCode has all words in one list.
  const nested = isObject(raw.command) ? raw.command : undefined;
  const listed = textsOf(raw.command);
  const command = textOf(nested?.path) ?? listed[0] ?? textOf(raw.command) ?? textOf(raw.cmd);
  if (command !== undefined) {
    return {
      kind: "command",
      command,
      args: [...listed.slice(1), ...textsOf(nested?.args ?? raw.args)],
      env: { ...tableOf(raw.environment), ...tableOf(raw.envs), ...tableOf(nested?.env ?? raw.env) },
      cwd: textOf(raw.cwd),
      envFile: textOf(raw.envFile),
      inherited: [...textsOf(raw.env_keys), ...textsOf(raw.env_vars)],
    };
  }
  if (url === undefined) return { kind: "other" };
  return {
    kind: "url",
    url,
    headers: { ...tableOf(raw.http_headers), ...tableOf(raw.headers) },
    headerVariables: tableOf(raw.env_http_headers),
    bearerVariable: textOf(raw.bearer_token_env_var),
  };
}

/** Whether the host is told not to start it. */
export function isDisabled(raw: unknown): boolean {
  return isObject(raw) && (raw.enabled === false || raw.disabled === true);
}
