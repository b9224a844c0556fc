// Simpler values than one: what a failure is tried with next, so that what is shown has only what matters.
import { isObject } from "../jsonrpc/message.ts";

/** The simplest first. Members are left out, lists and texts cut, numbers brought nearer to 0. */
export function* listSimpler(value: unknown): Generator<unknown> {
  if (typeof value === "string") {
    if (value !== "") yield "";
    if (value.length > 1) yield value.slice(0, Math.floor(value.length / 2));
    if (value.length > 1) yield value.slice(1);
    if (value !== "a" && value.length > 0) yield "a";
  } else if (typeof value === "number") {
    if (value !== 0) yield 0;
    if (Math.abs(value) > 1) yield Math.trunc(value / 2);
    if (!Number.isInteger(value)) yield Math.trunc(value);
  } else if (value === true) yield false;
  else if (Array.isArray(value)) {
    if (value.length > 1) yield [];
    for (let at = 0; at < value.length; at++) yield value.filter((_, place) => place !== at);
    for (let at = 0; at < value.length; at++)
      for (const simpler of listSimpler(value[at])) yield value.map((one, place) => (place === at ? simpler : one));
  } else if (isObject(value)) {
    const entries = Object.entries(value);
    for (const [name] of entries) yield Object.fromEntries(entries.filter(([other]) => other !== name));
    for (const [name, member] of entries)
      for (const simpler of listSimpler(member))
        yield Object.fromEntries(entries.map(([other, kept]) => [other, other === name ? simpler : kept]));
  }
}
