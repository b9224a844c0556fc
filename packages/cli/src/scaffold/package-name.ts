// Names that npm takes for a package, and the one that comes nearest to what was typed.
import { isBuiltin } from "node:module";

const form = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const maxLength = 214;
/** Npm refuses the first two, and a package cannot depend on itself. */
const refused = ["node_modules", "favicon.ico", "plenum", "@plenum/cli", "zod", "tsx", "typescript", "@types/node"];

/** What is wrong with a name, as a sentence without its full stop; undefined if nothing is. */
export function checkPackageName(name: string): string | undefined {
  if (name === "") return "A package needs a name";
  if (name.length > maxLength) return `The name of a package has at most ${maxLength} characters`;
  if (refused.includes(name) || isBuiltin(name)) return `"${name}" is the name of something else`;
  if (!form.test(name)) return `"${name}" is no name for a package: it has small letters, digits, - . _ and ~`;
  return undefined;
}

/** The nearest name that npm takes: undefined where nothing of it can be kept. */
export function suggestPackageName(text: string): string | undefined {
  const clean = (part: string): string =>
    part
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .replace(/[^a-z0-9._~-]+/g, "-")
      .replace(/^[._-]+|[._-]+$/g, "");
  const [, scope = "", own = text] = /^@([^/]+)\/(.+)$/.exec(text) ?? [];
  const bare = clean(own).slice(0, 100);
  if (bare === "") return undefined;
  const name = clean(scope) ? `@${clean(scope)}/${bare}` : bare;
  return checkPackageName(name) === undefined ? name : suggestServer(name);
}

function suggestServer(name: string): string | undefined {
  const longer = `${name}-server`;
  return checkPackageName(longer) === undefined ? longer : undefined;
}

/** Without its scope: what a server of that package is called. */
export function toServerName(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}
