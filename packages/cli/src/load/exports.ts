// Which of a file's exports is the server, and what to say where none is.

import type { Endpoint } from "plenum";
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "../failure.ts";
import type { FileSpec } from "../target/spec.ts";

export type FoundServer = Endpoint & { close?(): Promise<void> };

export type Exports = { readonly [name: string]: unknown };

const usualNames = ["default", "mcp", "server", "app"];

/** Throws a Failure that says what the file exports instead. */
export function findServer(exports: Exports, spec: FileSpec): FoundServer {
  const all = withCommonJs(exports);
  if (spec.exportName !== undefined) return findNamed(all, spec, spec.exportName);
  const found = usualNames.map((name) => all[name]).find(isServer);
  if (found) return found;
  throw toNoServer(all, spec);
}

function findNamed(exports: Exports, spec: FileSpec, name: string): FoundServer {
  if (!Object.hasOwn(exports, name)) {
    const near = nearestTo(name, Object.keys(exports));
    throw new Failure("usage", `${spec.path} has no export "${name}"`, {
      code: "no_export",
      hint: near ? `Did you mean ${spec.name}:${near}?` : formatExports(exports, spec.name),
    });
  }
  const value = exports[name];
  if (isServer(value)) return value;
  const { kind, advice } = describe(value, spec);
  throw new Failure("usage", `"${name}" of ${spec.path} is ${kind}, no Plenum server`, {
    code: "no_server",
    hint: advice ?? "A server is what createServer of plenum gives.",
  });
}

/** Node does not see every name that a CommonJS file exports; all are properties of its default. */
function withCommonJs(exports: Exports): Exports {
  const whole = exports["module.exports"] ?? exports.default;
  const isPlain = typeof whole === "object" && whole !== null && !isServer(whole) && !isOfficial(whole);
  const { "module.exports": _, ...named } = exports;
  return isPlain ? { ...(whole as Exports), ...named } : named;
}

export function isServer(value: unknown): value is FoundServer {
  if (typeof value !== "object" || value === null) return false;
  const { describe, call, watch } = value as Partial<Endpoint>;
  return [describe, call, watch].every((one) => typeof one === "function");
}

/** A server of the official SDK, of either layer and either line. */
function isOfficial(value: object): boolean {
  const { connect, setRequestHandler, server } = value as { readonly [name: string]: unknown };
  const hasHandlers = (one: unknown): boolean =>
    typeof (one as { setRequestHandler?: unknown } | undefined)?.setRequestHandler === "function";
  return typeof connect === "function" && (typeof setRequestHandler === "function" || hasHandlers(server));
}

function describe(value: unknown, spec: FileSpec): { readonly kind: string; readonly advice?: string } {
  if (isServer(value)) return { kind: "a Plenum server" };
  if (typeof value === "function") return { kind: "a function", advice: "Call it, and export its result." };
  if (typeof value !== "object" || value === null) return { kind: value === null ? "null" : `a ${typeof value}` };
  if (typeof (value as { then?: unknown }).then === "function")
    return { kind: "a promise", advice: "Export what it gives: export default await …" };
  if (isOfficial(value)) {
    return {
      kind: "a server of the official SDK",
      advice: `Run it as a command, where a TARGET stands: -- node ${spec.name}`,
    };
  }
  return { kind: "an object" };
}

function formatExports(exports: Exports, name: string): string {
  const names = Object.keys(exports);
  return names.length === 0 ? `${name} exports nothing.` : `${name} exports ${names.join(", ")}.`;
}

function toNoServer(exports: Exports, spec: FileSpec): Failure {
  const described = Object.entries(exports).map(([name, value]) => ({ name, ...describe(value, spec) }));
  const other = described.find(({ name }) => isServer(exports[name]));
  const lines = described.map(({ name, kind, advice }) => `  ${name}: ${kind}${advice ? `. ${advice}` : ""}`);
  const hint = [
    ...(lines.length > 0 ? [`${spec.name} exports:`, ...lines] : [`${spec.name} exports nothing.`]),
    "Do one of these:",
    `  Export the server as ${usualNames.slice(0, -1).join(", ")} or ${usualNames.at(-1)}: export default server`,
    `  Name the export: ${spec.name}:${other?.name ?? "NAME"}`,
    '  Create the server with Plenum: import { createServer } from "plenum"',
  ];
  return new Failure("usage", `${spec.path} exports no Plenum server`, { code: "no_server", hint: hint.join("\n") });
}
