// Mistakes in a resource are found when it is registered, by an error that names them.
import { createServer, type Server } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";

const create = (): Server => createServer({ name: "library", version: "1.0.0" });
const read = (): string => "";

/** Which requirement a refusal keeps, by what it says. */
function proves(message: string): string[] {
  if (message.includes(malformed)) return ["resource-custom-scheme", "resource-uri-unique"];
  if (message.startsWith("URI template")) return ["schema-resource-template", "resource-template-rfc6570"];
  if (message.includes("annotations.")) return ["schema-annotations"];
  if (message.includes("icons[")) return ["icon-shape"];
  if (message.includes("size")) return ["resource-size"];
  return message.includes("name must") ? ["schema-resource"] : [];
}

const malformed = "a resource needs an absolute URI such as note:///{id} or https://example.com/a";

test.each<[what: string, uri: string, options: object, message: string]>([
  ["a relative URI", "notes/1", {}, `resource "notes/1": ${malformed}`],
  ["an empty URI", "", {}, `resource "": ${malformed}`],
  ["a scheme that begins with a digit", "1x:a", {}, `resource "1x:a": ${malformed}`],
  ["a scheme with a blank", "a b://c", {}, `resource "a b://c": ${malformed}`],
  ["a scheme with an underscore", "my_app://c", {}, `resource "my_app://c": ${malformed}`],
  ["no scheme before the colon", "://c", {}, `resource "://c": ${malformed}`],
  ["a blank", "a:b c", {}, `resource "a:b c": ${malformed}`],
  ["a line break", "a:b\n", {}, `resource "a:b\\n": ${malformed}`],
  ["malformed percent-encoding", "a:%zz", {}, `resource "a:%zz": the URI has malformed percent-encoding`],
  ["a climbing path", "a:/b/../c", {}, `resource "a:/b/../c": the URI must not contain ".." segments`],
  ["an unclosed brace", "a{b", {}, `URI template "a{b": `],
  ["a stray brace", "a:b}", {}, `URI template "a:b}": `],
  ["an empty expression", "a:{}", {}, `URI template "a:{}": `],
  ["a reserved operator", "a:{!b}", {}, `URI template "a:{!b}": `],
  ["a template without a scheme", "{a}/b", {}, `resource "{a}/b": ${malformed}`],
  ["size on a template", "a:{b}", { size: 1 }, `resource "a:{b}": "size" is not for templates`],
  ["a negative size", "a:b", { size: -1 }, `resource "a:b": "size" is a whole number of bytes, not -1`],
  ["half a byte", "a:b", { size: 1.5 }, `resource "a:b": "size" is a whole number of bytes, not 1.5`],
  ["list without variables", "a:b", { list: () => [] }, `resource "a:b": "list" and "complete" are for templates`],
  ["complete without variables", "a:b", { complete: {} }, `resource "a:b": "list" and "complete" are for templates`],
  [
    "a completer for another variable",
    "a:{b}{?c}",
    { complete: { d: () => [] } },
    `resource "a:{b}{?c}": "complete" names "d", which is none of its arguments (b, c)`,
  ],
  ["a name that is no string", "a:b", { name: 5 }, `resource "a:b": name must be a string`],
  [
    "too high a priority",
    "a:b",
    { annotations: { priority: 1.5 } },
    `resource "a:b": annotations.priority must be a number from 0 to 1`,
  ],
  [
    "a negative priority",
    "a:{b}",
    { annotations: { priority: -0.1 } },
    `resource "a:{b}": annotations.priority must be a number from 0 to 1`,
  ],
  [
    "an unknown audience",
    "a:b",
    { annotations: { audience: ["x"] } },
    `resource "a:b": annotations.audience[0] must be "user" or "assistant"`,
  ],
  [
    "an icon without src",
    "a:b",
    { icons: [{ mimeType: "image/png" }] },
    `resource "a:b": icons[0].src must be an absolute URI`,
  ],
  [
    "an unknown theme",
    "a:b",
    { icons: [{ src: "https://a.example/i", theme: "pink" }] },
    `resource "a:b": icons[0].theme must be "light" or "dark"`,
  ],
  [
    "a bad time to live",
    "a:b",
    { cache: { ttlMs: -1 } },
    `resource "a:b": cache: ttlMs must be an integer of at least 0`,
  ],
])("%s is refused", (_, uri, options, message) => {
  covers(proves(message));
  const register = () => create().resource(uri, options, read);
  expect(register).toThrow(TypeError);
  // What is wrong with a template is the template's to say.
  expect(register).toThrow(message.endsWith(": ") ? message : new TypeError(message));
});

test.each(["my+app://x", "a-b.c1:x", "urn:isbn:0451450523", "https://example.com/a?b=c#d", "x:{+all}"])(
  "%s is accepted",
  (uri) => {
    covers("resource-custom-scheme");
    expect(create().resource(uri, {}, read).enabled).toBe(true);
  },
);

test("a date that is none is refused", () => {
  const options = { annotations: { lastModified: new Date(Number.NaN) } };
  expect(() => create().resource("a:b", options, read)).toThrow(RangeError);
});

test("a handler is needed", () => {
  expect(() => create().resource("a:b", {}, undefined as never)).toThrow(
    new TypeError('resource "a:b" needs a handler function'),
  );
});

test("a URI is registered once, until it is removed", () => {
  covers("resource-uri-unique");
  const server = create();
  const handle = server.resource("a:b", {}, read);
  const again = () => server.resource("a:b", {}, read);
  expect(again).toThrow(new TypeError('resource "a:b" is registered already; remove it first'));
  handle.disable();
  expect(again).toThrow(TypeError);
  handle.remove();
  expect(again().enabled).toBe(true);
});
