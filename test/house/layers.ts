// The rules of the house, as functions from files to what is wrong with them: imports point down, eras do not know each
// other, there are no circles, `node:` stays where it belongs, and files keep the form that docs/design.md describes.
import { posix } from "node:path";
import { readSource, type Source } from "./source.ts";

/** What each room of the library may import besides itself. A room that is not here does not exist yet. */
const below = ["protocol", "jsonrpc", "schema", "store", "util"];
const rooms: Readonly<Record<string, readonly string[]>> = {
  util: [],
  jsonrpc: ["util"],
  schema: ["util"],
  store: ["util"],
  protocol: ["jsonrpc", "schema", "store", "util"],
  auth: ["store", "util"],
  server: below,
  client: below,
  transport: below,
  roots: below,
  host: ["client", "transport", "auth", ...below],
  testing: ["client", "transport", ...below],
};

/** Where the room is about Node itself. Paths relative to src; a folder ends with `/`. */
const nodeRooms: readonly string[] = [
  "transport/stdio/",
  "transport/http/client-node.ts",
  "transport/http/node.ts",
  "transport/http/node-body.ts",
  "transport/http/node-exchange.ts",
  "transport/http/node-feed.ts",
  "roots/",
  "auth/authorization-server/node.ts",
  "auth/client/node.ts",
  "auth/client/node-browser.ts",
  "auth/client/node-file-store.ts",
  "auth/client/node-loopback.ts",
  "auth/client/node-terminal.ts",
];

/** Besides the host, what chooses between what a runtime has. */
const roofed: readonly string[] = ["transport/http/client.ts"];

/** The two that know both eras: where a server is served, and where a client dials one. */
const negotiators: readonly string[] = ["protocol/negotiate.ts", "protocol/dial.ts", "protocol/index.ts"];

const maxLines = 450;
const emptyNames = /^(utils|helpers|common|shared|types)$/;

export interface PackageRules {
  /** Names that may be imported from node_modules. */
  readonly dependencies: readonly string[];
  /** Whether the layers of the library hold here; other packages have only the rules for single files. */
  readonly layered: boolean;
}

/** Checks the files of one package: texts by path relative to its src folder. */
export function checkPackage(texts: ReadonlyMap<string, string>, rules: PackageRules): string[] {
  const sources = new Map([...texts].map(([path, text]) => [path, readSource(path, text)]));
  const problems = [...sources].flatMap(([path, source]) => [
    ...checkForm(path, source),
    ...checkImports(path, source, texts, rules),
  ]);
  return [...problems, ...checkNegotiator(sources), ...findCircles(sources)];
}

function checkForm(path: string, { text, anyLines }: Source): string[] {
  const problems: string[] = [];
  const lines = text.trimEnd().split("\n").length;
  if (lines > maxLines) problems.push(`${path}: ${lines} lines, more than ${maxLines}: find the seam`);
  if (!/^(#!.*\n)?(\/\/|\/\*)/.test(text))
    problems.push(`${path}: does not begin with a comment that says what it is for`);
  for (const line of anyLines) problems.push(`${path}:${line}: the type any`);
  const names = path.replace(/\.ts$/, "").split("/");
  for (const name of names) {
    if (emptyNames.test(name)) problems.push(`${path}: "${name}" names no topic`);
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) problems.push(`${path}: "${name}" is not in kebab-case`);
  }
  return problems;
}

/** The file that a relative import leads to, relative to src. */
function resolve(from: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(from), specifier));
}

const isRelative = (specifier: string): boolean => specifier.startsWith(".");

function checkImports(
  path: string,
  { imports }: Source,
  texts: ReadonlyMap<string, string>,
  rules: PackageRules,
): string[] {
  const problems: string[] = [];
  for (const specifier of imports) {
    if (specifier.startsWith("node:")) {
      const allowed = nodeRooms.some((room) => path === room || (room.endsWith("/") && path.startsWith(room)));
      if (rules.layered && !allowed) problems.push(`${path}: imports ${specifier}, but the room is not about Node`);
    } else if (specifier.startsWith("#")) {
      // One of the package's own `imports`: a room under two roofs, which exports.test.ts looks at.
      const allowed = path.split("/")[0] === "host" || roofed.includes(path);
      if (!allowed) problems.push(`${path}: imports ${specifier}, which is for the host alone`);
    } else if (!isRelative(specifier)) {
      const known = rules.dependencies.some((name) => specifier === name || specifier.startsWith(`${name}/`));
      if (!known) problems.push(`${path}: imports ${specifier}, which is no dependency of the package`);
    } else if (!texts.has(resolve(path, specifier))) {
      problems.push(`${path}: imports ${specifier}, which is not there (write the .ts ending; src only)`);
    } else if (rules.layered) {
      problems.push(...checkLayer(path, resolve(path, specifier)));
    }
  }
  return problems;
}

function checkLayer(from: string, to: string): string[] {
  if (from === "index.ts") return [];
  const [room = "", inner = ""] = from.split("/");
  const [target = "", targetInner = ""] = to.split("/");
  const allowed = rooms[room];
  if (allowed === undefined) return [`${from}: is in no room of the house`];
  if (room !== target && !allowed.includes(target)) return [`${from}: ${room} must not import ${target} (${to})`];
  const eras = ["sessioned", "stateless"];
  if (
    room === "protocol" &&
    target === room &&
    inner !== targetInner &&
    eras.includes(inner) &&
    eras.includes(targetInner)
  ) {
    return [`${from}: the eras must not know each other (${to})`];
  }
  return [];
}

function checkNegotiator(sources: ReadonlyMap<string, Source>): string[] {
  return [...sources].flatMap(([path, { imports }]) => {
    const targets = imports.filter(isRelative).map((specifier) => resolve(path, specifier));
    const knows = (era: string): boolean => targets.some((target) => target.startsWith(`protocol/${era}/`));
    if (negotiators.includes(path) || !knows("sessioned") || !knows("stateless")) return [];
    return [`${path}: only ${negotiators.join(" and ")} may import from both eras`];
  });
}

/** Circles of imports, type-only ones too: each as one problem that names the way round. */
function findCircles(sources: ReadonlyMap<string, Source>): string[] {
  const problems: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    const at = trail.indexOf(path);
    if (at >= 0) problems.push(`a circle of imports: ${[...trail.slice(at), path].join(" → ")}`);
    if (at >= 0 || done.has(path)) return;
    trail.push(path);
    for (const specifier of sources.get(path)?.imports ?? [])
      if (isRelative(specifier)) visit(resolve(path, specifier));
    trail.pop();
    done.add(path);
  };
  for (const path of sources.keys()) visit(path);
  return problems;
}
