// The folders that a server is told of. A URI that could lead out of the folder it seems to name is refused here, by
// name, rather than left to the server's reading of it. Specification: client/roots.
import { isObject } from "../jsonrpc/message.ts";
import type { Root } from "../protocol/model.ts";
import { quote } from "../util/quote.ts";

/**
 * The roots as the protocol carries them: strings become roots, URIs are written as URL parsers write them. Throws a
 * TypeError that names the first one that is no absolute file:// URI of this machine.
 */
export function toRoots(list: unknown): Root[] {
  if (!Array.isArray(list)) throw new TypeError(`roots must be a list of file:// URIs, not ${typeof list}`);
  // Not `map`, which would pass over holes.
  return Array.from(list, toRoot);
}

function toRoot(given: unknown, index: number): Root {
  const root = typeof given === "string" ? { uri: given } : given;
  const refuse = (why: string): never => {
    throw new TypeError(`roots[${index}] ${why}`);
  };
  if (!isObject(root)) return refuse("must be a file:// URI or an object with one");
  const { uri, name, _meta } = root;
  if (typeof uri !== "string") return refuse("must have a uri");
  const problem = checkRootUri(uri);
  if (problem) refuse(`${quote(uri)} ${problem}. A path becomes a URI with pathToFileURL(path).href.`);
  if (name !== undefined && typeof name !== "string") return refuse("must have a text as its name");
  if (_meta !== undefined && !isObject(_meta)) return refuse("must have an object as its _meta");
  return { uri: new URL(uri).href, ...(name !== undefined && { name }), ...(_meta && { _meta }) };
}

/** What is wrong with the URI of a root. It is looked at as it was written: a URL parser resolves `..` without a word. */
function checkRootUri(uri: string): string | undefined {
  // Parsers drop tabs and line breaks, which may stand between two dots.
  if (/[\s\p{Cc}]/u.test(uri)) return "has blanks or control characters, which a URI has not";
  const parts = /^file:\/\/([^/?#]*)([^?#]*)(.*)$/i.exec(uri);
  if (!parts) return "is no file:// URI";
  const [, host = "", path = "", rest] = parts;
  if (host !== "" && host.toLowerCase() !== "localhost") return "names another machine";
  if (rest) return "has a query or a fragment (write %3F for ? and %23 for #)";
  // Two slashes begin the path of another machine where Windows reads them.
  if (!path.startsWith("/") || path.startsWith("//")) return "has no absolute path";
  for (const segment of path.slice(1).split("/")) {
    const name = decode(segment);
    if (name === undefined) return "is not encoded as a URI is";
    // A backslash is a slash to URL parsers as it is, and to Windows when it is decoded.
    if (/[/\\\0]/.test(name)) return "has a slash, a backslash or NUL inside a name";
    if (isDots(name)) return 'has "." or ".." among its names';
  }
  return undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Also when they are encoded once more, for a server that decodes too often, or end in blanks, which Windows drops. */
function isDots(name: string): boolean {
  return /^(?:\.|%(?:25)*2e){1,2}(?:\s|%(?:25)*20)*$/i.test(name);
}
