// How words become arguments: by the schema, exactly as JSON, and with errors that say what would be right.
import { expect, test } from "vitest";
import { toArguments } from "./arguments.ts";
import type { Failure } from "./failure.ts";
import { formatArguments } from "./schema-look.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    ratio: { type: "number" },
    isOn: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    numbers: { type: "array", items: { type: "number" } },
    size: { enum: ["small", "large", 3] },
    place: { $ref: "#/$defs/place" },
    either: { anyOf: [{ type: "number" }, { type: "string" }] },
    maybe: { type: ["string", "null"] },
    anything: {},
    "a.b": { type: "string" },
    never: true,
  },
  $defs: { place: { type: "object", properties: { city: { type: "string" }, at: { $ref: "#/$defs/place" } } } },
  additionalProperties: false,
};

test.each<[string, string[], unknown]>([
  ["text stays text", ["text=5"], { text: "5" }],
  ["and may be empty, or hold what separates", ["text=", "maybe=a=b:=c"], { text: "", maybe: "a=b:=c" }],
  ["numbers", ["count=-5", "ratio=1e3"], { count: -5, ratio: 1000 }],
  ["yes and no", ["isOn=yes"], { isOn: true }],
  ["false", ["isOn=False"], { isOn: false }],
  ["a list of one", ["tags=a,b"], { tags: ["a,b"] }],
  ["a list by repeating", ["tags=a", "tags=b", "numbers=1", "numbers=2"], { tags: ["a", "b"], numbers: [1, 2] }],
  ["a list as JSON", ['tags=["a"]', "tags=b"], { tags: ["a", "b"] }],
  ["one of a choice", ["size=large"], { size: "large" }],
  ["one that is no text", ["size=3"], { size: 3 }],
  [
    "what is nested, through references that lead in a circle",
    ["place.city=Oslo", "place.at.city=Rome"],
    { place: { city: "Oslo", at: { city: "Rome" } } },
  ],
  ["the whole of it as JSON", ['place={"city": "Oslo"}'], { place: { city: "Oslo" } }],
  ["a number before text where both will do", ["either=5"], { either: 5 }],
  ["unless digits would be lost", ["either=12345678901234567890"], { either: "12345678901234567890" }],
  ["null", ["maybe=null"], { maybe: null }],
  ["a guess where the schema says nothing", ["anything=5", "never=x"], { anything: 5, never: "x" }],
  ["exactly, whatever the schema says", ["text:=5"], { text: 5 }],
  ["a name with a dot in it", ["a.b=x"], { "a.b": "x" }],
  ["all at once, unchecked", ['{"other": 1}'], { other: 1 }],
  ["nothing", [], {}],
])("%s", async (_, words, wanted) => {
  expect(await toArguments(words, schema)).toEqual(wanted);
});

test.each<[string, string[], RegExp, RegExp]>([
  ["no equals sign", ["text"], /has no "="/, /key=value/],
  ["an unknown name", ["txet=a"], /no argument "txet"/, /Did you mean "text"\?/],
  ["no integer", ["count=1.5"], /count must be integer, not "1.5"/, /count=5/],
  ["no choice", ["size=smal"], /size cannot be "smal"/, /Did you mean "small"\?/],
  ["twice what is no list", ["text=a", "text=b"], /given more than once/, /./],
  ["broken JSON", ["text:={"], /cannot be read as JSON/, /./],
  ["JSON that is no object", ["{}x"], /cannot be read as JSON/, /./],
  ["a file that is not there", ["text@=none.txt"], /none.txt cannot be read/, /./],
])("refuses %s", async (_, words, message, hint) => {
  const failure = (await toArguments(words, schema).catch((error) => error)) as Failure;
  expect(failure).toMatchObject({ name: "Failure", exit: "usage", message: expect.stringMatching(message) });
  expect(`${failure.hint ?? "none"}`).toMatch(hint);
});

test("a key called __proto__ is a key", async () => {
  const args = await toArguments(["__proto__.isAdmin=true", "__proto__=x"].slice(1), {});
  expect(Object.keys(args)).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
});

test("what is required is named, with what it is", async () => {
  const needing = {
    type: "object",
    properties: { city: { type: "string", description: "Where" } },
    required: ["city"],
  };
  await expect(toArguments(["cty=x"], needing)).rejects.toMatchObject({
    message: 'The tool needs "city"',
    hint: expect.stringMatching(/city=… {2}Where[\s\S]*It names no "cty"/),
  });
});

test("arguments as they are typed", () => {
  expect(formatArguments({ ...schema, required: ["ratio"] })).toBe(
    "ratio=NUMBER [text=TEXT] [count=INTEGER] [isOn=BOOLEAN] [tags=TEXT…] [numbers=NUMBER…] [size=small|large|3] [place=JSON] [either=NUMBER|TEXT] [maybe=TEXT|NULL] [anything=VALUE] [a.b=TEXT] [never=VALUE]",
  );
});
