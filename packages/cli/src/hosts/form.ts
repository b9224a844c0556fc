// How each host writes a server: the keys of its entries. What is written over an entry that is there keeps what it does not know.
import { type CommandRecord, isObject, type JsonObject, type UrlRecord } from "./record.ts";

export interface EntryForm {
  /** The key of the variables. */
  readonly env: string;
  /** The key of the headers. */
  readonly headers: string;
  toCommand(name: string, record: CommandRecord): JsonObject;
  /** Undefined where the host's file has no servers at URLs. */
  readonly toUrl: ((name: string, record: UrlRecord) => JsonObject) | undefined;
}

const isEmpty = (table: object): boolean => Object.keys(table).length === 0;
const headersOf = ({ headers }: UrlRecord): JsonObject => (isEmpty(headers) ? {} : { headers });

const toPlainCommand = (_: string, { command, args, env }: CommandRecord): JsonObject => ({
  command,
  args,
  ...(isEmpty(env) ? {} : { env }),
});

/** command, args, env; the URL under a key that differs. */
const plain = (key: string | undefined): EntryForm => ({
  env: "env",
  headers: "headers",
  toCommand: toPlainCommand,
  toUrl: key === undefined ? undefined : (_, record) => ({ [key]: record.url, ...headersOf(record) }),
});

/** The same with the type named. */
const typed: EntryForm = {
  env: "env",
  headers: "headers",
  toCommand: (name, record) => ({ type: "stdio", ...toPlainCommand(name, record) }),
  toUrl: (_, record) => ({ type: "http", url: record.url, ...headersOf(record) }),
};

export const forms = {
  local: plain(undefined),
  plain: plain("url"),
  windsurf: plain("serverUrl"),
  gemini: plain("httpUrl"),
  typed,
  codex: {
    ...plain("url"),
    headers: "http_headers",
    toUrl: (_, { url, headers }) => ({ url, ...(isEmpty(headers) ? {} : { http_headers: headers }) }),
  },
  goose: {
    env: "envs",
    headers: "headers",
    toCommand: (name, { command, args, env }) => ({
      enabled: true,
      type: "stdio",
      name,
      cmd: command,
      args,
      envs: env,
      timeout: 300,
    }),
    toUrl: (name, { url, headers }) => ({
      enabled: true,
      type: "streamable_http",
      name,
      uri: url,
      headers,
      timeout: 300,
    }),
  },
  opencode: {
    env: "environment",
    headers: "headers",
    toCommand: (_, { command, args, env }) => ({
      type: "local",
      command: [command, ...args],
      ...(isEmpty(env) ? {} : { environment: env }),
      enabled: true,
    }),
    toUrl: (_, record) => ({ type: "remote", url: record.url, ...headersOf(record), enabled: true }),
  },
  copilot: {
    ...typed,
    toCommand: (name, record) => ({ ...typed.toCommand(name, record), tools: ["*"] }),
    toUrl: (_, record) => ({ type: "http", url: record.url, ...headersOf(record), tools: ["*"] }),
  },
} as const satisfies { readonly [name: string]: EntryForm };

const commandKeys = ["command", "args", "cmd", "env", "envs", "environment", "env_keys", "env_vars", "cwd", "envFile"];
const addressKeys = ["url", "httpUrl", "serverUrl", "uri"];
const urlKeys = [...addressKeys, "headers", "http_headers", "env_http_headers", "bearer_token_env_var"];

/** Kept as they are where there is an entry already: its owner chose them. */
const settings = ["enabled", "timeout", "tools"];

/** The entry to write over another: its variables and headers are kept, new ones win, and so is every key that is not ours. */
export function mergeEntry(form: EntryForm, existing: unknown, fresh: JsonObject): JsonObject {
  if (!isObject(existing)) return fresh;
  const isUrl = addressKeys.some((key) => key in fresh);
  const stale = isUrl ? [...commandKeys, ...addressKeys] : urlKeys;
  const kept = Object.fromEntries(Object.entries(existing).filter(([key]) => !stale.includes(key) || key in fresh));
  const table = isUrl ? form.headers : form.env;
  const merged = {
    ...(isObject(existing[table]) ? existing[table] : {}),
    ...(isObject(fresh[table]) ? fresh[table] : {}),
  };
  const own = Object.fromEntries(Object.entries(fresh).filter(([key]) => !(settings.includes(key) && key in existing)));
  return { ...kept, ...own, ...(table in kept || table in fresh ? { [table]: merged } : {}) };
}
