// One text for one JSON value: members in the order of their names, two spaces, a line feed at the end; and its digest.
import { createHash } from "node:crypto";
import { Failure } from "../failure.ts";

/** Deeper values are no tool surface, and would exhaust the stack of whoever walks them. */
export const maxDepth = 200;

/** Pretty text; equal for equal values, however their members were ordered. Members that are undefined are left out. */
export function toCanonicalText(value: unknown): string {
  return `${write(value, "")}\n`;
}

/** `sha256:` and 64 hex digits over the canonical text. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash("sha256").update(toCanonicalText(value)).digest("hex")}`;
}

export function isSameJson(a: unknown, b: unknown): boolean {
  return a === b || toCanonicalText(a) === toCanonicalText(b);
}

/** By code units, which is the same on every machine and in every language. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function write(value: unknown, indent: string): string {
  if (indent.length > maxDepth * 2) {
    throw new Failure("protocol", `What the server shows is nested more than ${maxDepth} deep`, {
      code: "too_deep",
      hint: "No client should have to read that: tell whoever makes the server.",
    });
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item: unknown) => write(item, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => byText(a, b))
        .map(([key, member]) => `${JSON.stringify(key)}: ${write(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${inner}${lines.join(`,\n${inner}`)}\n${indent}${close}`;
}
