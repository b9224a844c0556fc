// Which hosts are of this machine, and what an answer holds.
import { expect, test } from "vitest";
import { isLoopbackHost, messageOf } from "./http-probe.ts";

test.each([
  ["localhost", true],
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["[::1]", true],
  ["app.localhost", true],
  ["0.0.0.0", false],
  ["192.168.0.1", false],
  ["localhost.example.com", false],
  ["127.0.0.1.example.com", false],
])("%s", (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});

test.each([
  ['{"result":{}}', { result: {} }],
  ['event: message\nid: 1\ndata: {"result":{}}\n\n', { result: {} }],
  ["<html>", undefined],
  ["[]", undefined],
])("%j", (text, expected) => {
  expect(messageOf({ status: 200, headers: {}, text })).toEqual(expected);
});
