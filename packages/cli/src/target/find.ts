// From the word that a person typed, or the command after `--`, to what it names.
import { existsSync } from "node:fs";
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "../failure.ts";
import { findEntry, hostNames, readEntry } from "../hosts/entry.ts";
import { parseFileSpec } from "../load/file-spec.ts";
import { keepSecrets, secretsOf } from "./secrets.ts";
import type { TargetSpec } from "./spec.ts";

export interface TargetOptions {
  /** `--header NAME: VALUE`, for URLs. */
  readonly header: readonly string[];
  /** `--env KEY=VALUE`, for commands. */
  readonly env: readonly string[];
  /** `--cwd`, for commands. */
  readonly cwd: string | undefined;
}

const configFile = /\.(jsonc?|toml|ya?ml)$/i;
const codeFile = /\.([mc]?[jt]s|[jt]sx)$/i;

/** Throws a Failure for what names nothing, and says what would. */
export async function findTarget(
  text: string | undefined,
  rest: readonly string[] | undefined,
  options: TargetOptions,
): Promise<TargetSpec> {
  // Also where no target comes of it.
  keepSecrets([...options.header, ...options.env].flatMap(toGiven));
  const spec = await toSpec(text, rest, options);
  keepSecrets(secretsOf(spec));
  return spec;
}

/** The value of `NAME: VALUE` or `KEY=VALUE`. A reference is no secret, and is named where it leads nowhere. */
function toGiven(pair: string): readonly string[] {
  const [, value = ""] = /^[^:=]*[:=]\s*(.*)$/s.exec(pair) ?? [];
  return /^@(env|file|keychain):/.test(value) ? [] : [value];
}

async function toSpec(
  text: string | undefined,
  rest: readonly string[] | undefined,
  options: TargetOptions,
): Promise<TargetSpec> {
  const spec = rest ? toCommand(rest) : await findNamed(text ?? "");
  if (spec.kind === "url") return { ...spec, headers: { ...spec.headers, ...toHeaders(options.header) } };
  if (options.header.length > 0) {
    throw new Failure("usage", "--header is for servers at a URL", {
      hint: "What a command needs goes into --env KEY=VALUE.",
    });
  }
  if (spec.kind === "command") {
    const { resolveEnv } = await import("../secrets/references.ts");
    const env = { ...spec.env, ...(await resolveEnv(toEnv(options.env))) };
    return { ...spec, env, cwd: options.cwd ?? spec.cwd };
  }
  return spec;
}

function toCommand([command, ...args]: readonly string[]): TargetSpec {
  if (command === undefined) {
    throw new Failure("usage", "There is no command after --", { hint: "Such as: plenum list -- node server.js" });
  }
  return { kind: "command", name: [command, ...args].join(" "), command, args, env: {}, cwd: undefined };
}

async function findNamed(text: string): Promise<TargetSpec> {
  if (/^https?:\/\//i.test(text)) return toUrl(text);
  const colon = text.lastIndexOf(":");
  const [left, right] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)];
  if (colon > 0 && hostNames.includes(left)) return findEntry(left, right);
  const file = parseFileSpec(text);
  if (configFile.test(file.path)) return readEntry(file.path, file.exportName ?? "");
  if (codeFile.test(file.path) || existsSync(file.path)) return file;
  throw toUnknown(text, file.path);
}

function toUnknown(text: string, path: string): Failure {
  const near = text.includes(":") ? nearestTo(text.slice(0, text.lastIndexOf(":")), hostNames) : undefined;
  if (near) {
    return new Failure("usage", `"${text}" names no server`, {
      code: "unknown_target",
      hint: `Did you mean ${near}${text.slice(text.lastIndexOf(":"))}?`,
    });
  }
  const isAddress =
    /^([\w.-]+|\[[\da-f:.]+\]):\d+(\/\S*)?$/i.test(text) || /^(localhost|[\w-]+(\.[\w-]+)+)\//.test(text);
  if (!isAddress && /[\\/]|\.[a-z]+$/i.test(text)) {
    return new Failure("usage", `File not found: ${path}`, {
      code: "file_not_found",
      hint: "Is the path right? It is taken from the folder you are in.",
    });
  }
  return new Failure("usage", `"${text}" names no server`, {
    code: "unknown_target",
    hint: isAddress
      ? `Did you mean http://${text}?`
      : "Name a URL, a file such as server.ts, an entry such as mcp.json:name, host:name, or a command after --.",
  });
}

function toUrl(text: string): TargetSpec {
  if (!URL.canParse(text))
    throw new Failure("usage", `${text} is no URL`, { hint: "Such as: http://127.0.0.1:3000/mcp" });
  const { origin, pathname } = new URL(text);
  // The rest may hold a key.
  return { kind: "url", name: `${origin}${pathname}`, url: text, headers: {} };
}

/** `NAME: VALUE` texts. Throws a Failure for one without a colon. */
export function toHeaders(given: readonly string[]): { [name: string]: string } {
  return Object.fromEntries(
    given.map((one) => {
      const colon = one.indexOf(":");
      if (colon <= 0)
        throw new Failure("usage", `--header "${one}" has no colon`, { hint: 'Such as: --header "X-Api-Key: abc"' });
      return [one.slice(0, colon).trim(), one.slice(colon + 1).trim()];
    }),
  );
}

/** Variables: `KEY=VALUE` texts. */
export function toEnv(given: readonly string[]): { [name: string]: string } {
  return toPairs(given, "Such as: API_KEY=@env:API_KEY");
}

/** `KEY=VALUE` texts, split on the first `=`, both sides trimmed. Throws a Failure with the hint for one without. */
export function toPairs(given: readonly string[], hint: string): { [name: string]: string } {
  return Object.fromEntries(
    given.map((one) => {
      const equals = one.indexOf("=");
      if (equals <= 0) throw new Failure("usage", `"${one}" is no KEY=VALUE`, { code: "invalid_pair", hint });
      return [one.slice(0, equals).trim(), one.slice(equals + 1).trim()];
    }),
  );
}
