// The code of dist: one file for each export path, one for each room that is loaded on demand, all where their source is in
// src, and in chunks/ what several of them share. Reading ninety small files took Node longer than running what is in them.
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

// Programs, by what they start with: a server on stdio or in memory, one over HTTP, a client over HTTP, one of a process that
// it starts. With it what a client loads so soon that what it shares with others may be there at once. And what asking takes.
const client = ["client/client", "client/option-check", "protocol/sessioned/dial"];
const programs = {
  channel: ["server/tools-server", "transport/memory/target"],
  web: ["server/tools-server", "transport/http/server", "transport/http/node"],
  client: [...client, "transport/http/client"],
  process: [...client, "transport/stdio/client"],
};
const asking = ["server/ask", "protocol/sessioned/ask", "protocol/stateless/replay"];

/**
 * Files that the same programs start with are one chunk, so that each program loads few files, and hardly what only others
 * need. What a file imports is needed by all who need the file: a chunk imports only chunks of more programs, and there are
 * no circles. What no program starts with goes where the bundler puts it. Index has no code of its own: who takes one thing
 * of it, such as `connect`, is not to load the rest, and bundlers split files by what they import.
 */
function nameChunk(file, files) {
  if (files.size === 1) {
    if (!files.has("index")) return undefined;
    return /^(host|client)\//.test(file) ? "connect" : "main";
  }
  const needs = (entries) => entries.some((entry) => files.has(entry));
  const parties = Object.keys(programs).filter((name) => needs(programs[name]));
  const name = parties.join("-");
  if (name === Object.keys(programs).join("-")) return "core";
  // Few and short: not worth a chunk for each who shares them.
  if (name === "web-client-process") return "web-client";
  if (file === "util/base64") return "core";
  if (files.has("index") && !needs(programs.channel)) return "shared";
  // What others load for the first client of that era; and what tells which functions are exported needs none of it.
  if (name === "web" && files.has("protocol/stateless/open")) return undefined;
  if (name === "web" && files.has("protocol/index")) return "stateless-each";
  return name || (needs(asking) ? "asking" : undefined);
}

const inert = new Set(["Literal", "Identifier", "ArrowFunctionExpression", "FunctionExpression"]);

/** Whether a bundler could think that making this value does something else, too. */
function mayAct(node) {
  switch (node?.type) {
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "UnaryExpression":
      return mayAct(node.expression ?? node.argument);
    case "ArrayExpression":
      return node.elements.some(mayAct);
    case "ObjectExpression":
      return node.properties.some(
        (property) => property.type !== "Property" || property.computed || mayAct(property.value),
      );
    case "TemplateLiteral":
      return node.expressions.length > 0;
    default:
      return node != null && !inert.has(node.type);
  }
}

/** What the mark can stand before as it is: it speaks of a call, and not of what is handed to it. */
function isPlainCall({ type, callee, arguments: given }) {
  return (type === "NewExpression" || type === "CallExpression") && !mayAct(callee) && !given.some(mayAct);
}

/**
 * Tells bundlers that the constants of a file only are what they are: unused ones may go. They know it of whole files, by
 * `sideEffects` in package.json, and a chunk is many files in one. Nothing is moved to another line.
 */
const markConstants = {
  name: "mark-constants",
  transform: {
    filter: { id: /\.ts$/ },
    handler(code) {
      let marked = "";
      let at = 0;
      for (const statement of parseAst(code, { lang: "ts" }).body) {
        const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
        if (declaration?.type !== "VariableDeclaration") continue;
        for (const { init } of declaration.declarations) {
          if (!mayAct(init)) continue;
          const value = code.slice(init.start, init.end);
          marked += `${code.slice(at, init.start)}/* @__PURE__ */ ${isPlainCall(init) ? value : `(() => (${value}))()`}`;
          at = init.end;
        }
      }
      return { code: marked + code.slice(at), map: null };
    },
  },
};

/** Every path of a package.json's exports or imports that leads to source. */
function listSources(target) {
  if (typeof target === "string") return target.startsWith("./src/") ? [target] : [];
  return Object.values(target).flatMap(listSources);
}

/** Writes the code of a package into a folder beside its dist. Throws when it cannot be bundled. */
export async function bundle(folder, outDir) {
  const { exports, imports = {}, dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const src = join(folder, "src");
  const nameOf = (id) => relative(src, id).replaceAll(sep, "/").replace(/\.ts$/, "");
  const [main] = listSources(exports["."]).map((path) => join(folder, path));
  const entries = new Set(listSources({ exports, imports }).map((path) => join(folder, path)));

  const emitEntries = {
    name: "emit-entries",
    buildStart() {
      // They export what their source does, and nothing for other files.
      for (const id of entries) {
        if (id !== main)
          this.emitFile({ type: "chunk", id, fileName: `${nameOf(id)}.js`, preserveSignature: "strict" });
      }
    },
    moduleParsed({ dynamicallyImportedIds }) {
      for (const id of dynamicallyImportedIds) {
        if (entries.has(id) || !id.startsWith(src)) continue;
        entries.add(id);
        this.emitFile({ type: "chunk", id, fileName: `${nameOf(id)}.js` });
      }
    },
  };

  /** The entries from which a file is reached without loading anything on demand. There are no circles. */
  const reaching = new Map();
  const listReaching = (id, context) => {
    if (!reaching.has(id)) {
      const found = context.getModuleInfo(id).importers.flatMap((importer) => [...listReaching(importer, context)]);
      reaching.set(id, new Set(entries.has(id) ? [nameOf(id), ...found] : found));
    }
    return reaching.get(id);
  };
  const isLazy = (id, context) => context.getModuleInfo(id).dynamicImporters.length > 0;

  const bundled = await rolldown({
    input: { [nameOf(main)]: main },
    cwd: folder,
    platform: "neutral",
    external: [/^node:/, /^#/, ...Object.keys(dependencies)],
    // What is loaded on demand may be a chunk of others, too.
    preserveEntrySignatures: "allow-extension",
    transform: { target: "node20" },
    // There is nothing to shake off, and it would put the name of a package that applications may have where bundlers see it.
    treeshake: false,
    plugins: [emitEntries, markConstants],
  });
  try {
    await bundled.write({
      dir: outDir,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      // Stack traces show the names of the source, and code that can be read.
      minify: false,
      minifyInternalExports: false,
      // For our own tests: neither they nor the source are packed, and nothing shipped names them.
      sourcemap: "hidden",
      // Comments belong into declarations, where editors show them. Those for bundlers stay.
      comments: { legal: false, annotation: true, jsdoc: false },
      codeSplitting: {
        groups: [
          {
            debugName: "parties",
            name: (id, context) => {
              if (!id.startsWith(src) || id === main) return undefined;
              if (isLazy(id, context)) return undefined;
              return nameChunk(nameOf(id), listReaching(id, context));
            },
            includeDependenciesRecursively: false,
          },
        ],
      },
    });
  } finally {
    await bundled.close();
  }
}
