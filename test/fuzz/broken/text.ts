// Faults of the text: what is no JSON, and JSON that is strange but right.
import type { Revision } from "plenum";
import { request } from "../target.ts";
import { answered, type Case, invalidParams, invalidRequest, noId, parseError, raw } from "./case.ts";

const echo = (revision: Revision, message = "hi"): string =>
  JSON.stringify(request(revision, "tools/call", { name: "echo", arguments: { message } }));

/** The good request with a piece of its text exchanged. */
const patched =
  (from: string, to: string) =>
  (revision: Revision): string => {
    const text = echo(revision);
    if (!text.includes(from)) throw new Error(`no ${from} in ${text}`);
    return text.replace(from, () => to);
  };

// A proper prefix of an object is never JSON.
const truncated = Array.from({ length: 40 }, (_, length) =>
  raw(`cut off after ${length} characters`, (revision) => echo(revision).slice(0, length), parseError),
);

const garbage = ["}", "]", ",", "x", "\0", "{}", '""', "null", "//", "/**/", ";", "\ufeff", "\u00a0", "\v", "\f"].map(
  (tail) => raw(`followed by ${JSON.stringify(tail)}`, (revision) => echo(revision) + tail, parseError),
);

const leading = [
  "\ufeff",
  "\0",
  "x",
  ",",
  "\u00a0",
  "\u2028",
  "\v",
  ")]}'\n",
  "Content-Length: 2\r\n\r\n",
  "data: ",
].map((head) => raw(`preceded by ${JSON.stringify(head)}`, (revision) => head + echo(revision), parseError));

const notJson: readonly Case[] = [
  ["nothing", ""],
  ["a blank", " "],
  ["a new line", "\n"],
  ["an opening brace", "{"],
  ["a closing brace", "}"],
  ["an opening bracket", "["],
  ["a quote", '"'],
  ["a minus", "-"],
  ["undefined", "undefined"],
  ["NaN", "NaN"],
  ["Infinity", "Infinity"],
  ["a hexadecimal number", "0x10"],
  ["an octal number", "01"],
  ["True", "True"],
  ["XML", "<?xml version='1.0'?><methodCall/>"],
  ["an HTTP request", "GET /mcp HTTP/1.1"],
  ["single quotes", "{'jsonrpc':'2.0','id':'x','method':'ping'}"],
  ["bare keys", '{jsonrpc:"2.0",id:"x",method:"ping"}'],
  ["a comma too many", '{"jsonrpc":"2.0","id":"x","method":"ping",}'],
  ["a comma too few", '{"jsonrpc":"2.0" "id":"x","method":"ping"}'],
  ["a colon too few", '{"jsonrpc" "2.0","id":"x","method":"ping"}'],
  ["a value too few", '{"jsonrpc":"2.0","id":,"method":"ping"}'],
  ["a comment", '{"jsonrpc":"2.0",/* hi */"id":"x","method":"ping"}'],
  ["a number as key", '{1:"a","jsonrpc":"2.0","id":"x","method":"ping"}'],
  ["a mismatched bracket", '{"jsonrpc":"2.0","id":"x","method":"ping"]'],
  [
    "two messages on two lines",
    '{"jsonrpc":"2.0","id":"x","method":"ping"}\n{"jsonrpc":"2.0","id":"y","method":"ping"}',
  ],
].map(([what, text]) => raw(what as string, text, parseError));

const badNumbers = ["NaN", "Infinity", "-Infinity", "+1", ".5", "1.", "01", "0x1", "1e", "1_000", "١"].map((number) =>
  raw(`the id ${number}`, patched('"id":"x"', `"id":${number}`), parseError),
);

const badStrings: readonly Case[] = [
  ["a raw NUL", "\0"],
  ["a raw tab", "\t"],
  ["a raw new line", "\n"],
  ["a raw escape", "\u001b"],
  ["an unknown escape", "\\x41"],
  ["a short escape", "\\u12"],
  ["an escape that is no hexadecimal", "\\uZZZZ"],
  ["an escaped quote that hides the end", "\\"],
].map(([what, text]) => raw(`${what} in a string`, patched("hi", text as string), parseError));

const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

const strange: readonly Case[] = [
  raw("blanks of every legal kind", (revision) => ` \t\r\n${echo(revision)}\n\r\t `, answered),
  raw("a raw DEL, which is legal", patched("hi", "\u007f"), answered),
  raw("an escaped NUL", patched("hi", "\\u0000"), answered),
  raw("a lone high surrogate", patched("hi", "\\ud800"), answered),
  raw("a lone low surrogate", patched("hi", "\\udc00"), answered),
  raw("surrogates the wrong way round", patched("hi", "\\udc00\\ud800"), answered),
  raw("a line separator", patched("hi", "\u2028\u2029"), answered),
  raw("every letter of the method escaped", patched("tools/call", "\\u0074ools\\/call"), answered),
  raw("a key that is escaped", patched('"method"', '"\\u006dethod"'), answered),
  raw("a string of one megabyte", patched("hi", "a".repeat(1_000_000)), answered),
  raw("a string of one megabyte of quotes", patched("hi", '\\"'.repeat(500_000)), answered),
  raw("brackets in a string", patched("hi", "[{".repeat(1000)), answered),
  raw("brackets in a string behind backslashes", patched("hi", `\\\\\\"${"[{".repeat(1000)}`), answered),
  raw("a duplicate id: the last one counts", patched('"id":"x"', '"id":"first","id":"x"'), answered),
  raw("a duplicate method: the last one counts", patched('"method":', '"method":"no/such","method":'), answered),
  raw("a duplicate jsonrpc: the last one counts", patched('"jsonrpc":', '"jsonrpc":"1.0","jsonrpc":'), answered),
  raw("a duplicate argument: the last one counts", patched('"message":"hi"', '"message":1,"message":"hi"'), answered),
  raw("duplicate params: the last ones count", patched('"params":', '"params":[],"params":'), answered),
  raw("100 levels", patched('"message":"hi"', `"message":"hi","deep":${nested(100)}`), answered),
  raw("125 levels inside three", patched('"message":"hi"', `"message":"hi","deep":${nested(125)}`), answered),
  raw("126 levels inside three", patched('"message":"hi"', `"message":"hi","deep":${nested(126)}`), invalidRequest),
  raw("10 000 levels", patched('"message":"hi"', `"message":"hi","deep":${nested(10_000)}`), invalidRequest),
  raw("100 000 opening brackets", "[".repeat(100_000), noId),
  raw("100 000 opening objects", '{"a":'.repeat(100_000), noId),
  raw("100 000 closing brackets", "]".repeat(100_000), parseError),
  raw("a number too large for a double", patched('"message":"hi"', '"message":1e999'), (revision) =>
    revision >= "2025-11-25" ? { fault: "x" } : invalidParams,
  ),
  raw("a number of a thousand digits", patched('"message":"hi"', `"message":"hi","n":${"9".repeat(1000)}`), answered),
  raw(
    "a fraction of a thousand digits",
    patched('"message":"hi"', `"message":"hi","n":0.${"9".repeat(1000)}`),
    answered,
  ),
  raw("a key of a hundred kilobytes", patched('"message":"hi"', `"message":"hi","${"k".repeat(100_000)}":1`), answered),
  raw("ten thousand members", patched('"message":"hi"', `"message":"hi",${members(10_000)}`), answered),
];

function members(count: number): string {
  return Array.from({ length: count }, (_, i) => `"m${i}":${i}`).join(",");
}

const scalars = ["null", "true", "false", "0", "-1", "1.5", "1e999", '""', '"ping"', '"{}"'].map((text) =>
  raw(`the bare value ${text}`, text, noId),
);

export const textCases: readonly Case[] = [
  ...truncated,
  ...garbage,
  ...leading,
  ...notJson,
  ...badNumbers,
  ...badStrings,
  ...strange,
  ...scalars,
];
