import { expect, test } from "vitest";
import { networkReasonOf } from "./network-reason.ts";

const coded = (text: string, code: string): Error => Object.assign(new Error(text), { code });
const wrapped = (cause: unknown): Error => new TypeError("fetch failed", { cause });

test.each<[string, unknown, string]>([
  ["what was wrapped", wrapped(coded("getaddrinfo ENOTFOUND x", "ENOTFOUND")), "getaddrinfo ENOTFOUND x. Is the name"],
  ["what was wrapped twice", wrapped(wrapped(coded("a", "ECONNREFUSED"))), "a. Is the server running"],
  ["a code without words", wrapped(coded("", "ECONNREFUSED")), "ECONNREFUSED. Is the server running"],
  ["no TLS", wrapped(coded("0A00010B:SSL routines", "EPROTO")), "begins with http://"],
  ["an error of the application's own", new Error("the tunnel is shut"), "the tunnel is shut"],
  ["no words at all", wrapped(new Error("")), "fetch failed"],
  ["no error", undefined, "undefined"],
])("%s is said", (_, error, text) => {
  expect(networkReasonOf(error)).toContain(text);
});
