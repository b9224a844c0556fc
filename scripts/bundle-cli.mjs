// The code of the command line: the programs that are started, which load the chunks, and the chunks: one for each part that
// is loaded on demand, and those of what they share. A chunk is a script (see packages/cli/src/start/chunks.ts). The library is
// part of them, but for what brings packages of its own; other packages stay in node_modules.
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** What is started, by a person and by `plenum dev` as a process of its own, and the source of the chunk that it begins with. */
const programs = { main: "main", worker: "dev/worker" };

/** What Node runs in a thread of its own, one file each: it shares nothing with the others, and reads little. */
const hooks = ["dev/extras-hooks", "load/module-hooks"];

/** Of the library, what stays where it is installed: it imports packages. */
const apart = /^plenum\/auth\//;

/**
 * What is loaded together is one chunk each, with what it imports: what every command starts with, and what those start with
 * that connect to a server, by the paths of source. Finding a file takes longer than passing over what is not used of it.
 */
const groups = {
  core: /^cli\/src\/(?:cli|commands?|failure|output|parse)\.ts$/,
  client: new RegExp(
    [
      /^cli\/src\/(?:session|target\/find|arguments|content|log-lines|unknown-tool|progress|commands\/call)\.ts$/,
      /^plenum\/src\/(?:client\/(?:client|option-check|tool-hints)|protocol\/stateless\/open)\.ts$/,
    ]
      .map(({ source }) => source)
      .join("|"),
  ),
};

/** identity.ts in each who imports it: every run needs it, and it is not worth a file. A test compares it with package.json. */
const inlineVersion = (version) => ({
  name: "inline-version",
  transform: {
    filter: { id: /\.ts$/ },
    handler: (code) =>
      code.replace(/^import \{ version \} from "[./]+identity\.ts";$/m, `const version = ${JSON.stringify(version)};`),
  },
});

/** Every node of a syntax tree. */
function* walk(node) {
  if (typeof node?.type === "string") yield node;
  for (const value of Object.values(node ?? {})) if (typeof value === "object") yield* walk(value);
}

/** What a chunk is to the loader: a function, in letters that every encoding has. */
function toScript(code, packagesOf) {
  let written = "";
  let at = 0;
  for (const { type, start, source } of walk(parseAst(code))) {
    if (type !== "ImportExpression") continue;
    written += `${code.slice(at, start)}__import(`;
    at = source.start;
  }
  written += code.slice(at);
  const opened = written.replace(
    /Promise\.resolve\(\)\.then\(\(\) => require\("(\.\/[^"]+)"\)\)/g,
    (_, id) => `__open("${id}", ${JSON.stringify(packagesOf(id.slice(2)))})`,
  );
  const plain = opened.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `function (exports, require, module, __filename, __open, __import) {${plain}\n}`;
}

/** Chunks that most commands start with lie in one file: finding a file takes longer than passing over what is not used of it. */
const startFile = "first.cjs";
const startChunks = ["main", "rolldown-runtime", ...Object.keys(groups)].map((name) => `${name}.cjs`);

const asScripts = {
  name: "as-scripts",
  generateBundle(_options, files) {
    /** The packages that a chunk and those that it imports take. */
    const packagesOf = (name, seen = new Set()) => {
      if (seen.has(name) || name.startsWith("node:")) return [];
      seen.add(name);
      return files[name] ? [...new Set(files[name].imports.flatMap((id) => packagesOf(id, seen)))] : [name];
    };
    const scripts = Object.values(files).map((chunk) => [chunk.fileName, toScript(chunk.code, packagesOf)]);
    const first = scripts.filter(([name]) => startChunks.includes(name));
    if (first.length !== startChunks.length || files[startFile])
      throw new Error(`${startFile} is to hold ${startChunks}, of: ${Object.keys(files)}`);
    for (const [name, script] of scripts) {
      if (startChunks.includes(name)) delete files[name];
      else files[name].code = toFile([[name, script]]);
    }
    this.emitFile({ type: "asset", fileName: startFile, source: toFile(first) });
  },
};

/** What the loader reads: the chunks in it by their names. */
function toFile(scripts) {
  return `({\n${scripts.map(([name, script]) => `"./${name}": ${script}`).join(",\n")}\n})`;
}

/** Writes the code of packages/cli into a folder beside its dist. Throws when it cannot be bundled. */
export async function bundleCli(folder, outDir) {
  const together = Object.entries(groups).map(([name, paths], at) => ({
    name,
    // What both need is in the first.
    priority: -1 - at,
    test: (id) => paths.test(relative(dirname(folder), id).replaceAll(sep, "/")),
  }));
  const chunks = join(outDir, "chunks");
  await write(folder, chunks, programs, { format: "cjs", plugins: [asScripts], groups: together });
  const digest = createHash("sha256");
  for (const name of readdirSync(chunks).sort()) digest.update(name).update(readFileSync(join(chunks, name)));
  const define = {
    buildId: JSON.stringify(digest.digest("hex").slice(0, 16)),
    startFile: JSON.stringify(startFile),
    startChunks: JSON.stringify(startChunks.map((name) => `./${name}`)),
  };
  for (const name of Object.keys(programs))
    await write(folder, outDir, { [name]: `start/${name}` }, { format: "cjs", define });
  for (const name of hooks) await write(folder, outDir, { [name]: name }, { format: "esm" });
  chmodSync(join(outDir, "main.cjs"), 0o755);
}

async function write(folder, dir, inputs, { format, plugins = [], groups: together, define = {} }) {
  const { version, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const packages = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => name !== "plenum");
  const bundled = await rolldown({
    input: Object.fromEntries(Object.entries(inputs).map(([name, file]) => [name, join(folder, "src", `${file}.ts`)])),
    cwd: folder,
    platform: "node",
    external: (id) =>
      id.startsWith("node:") || apart.test(id) || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    resolve: { conditionNames: ["plenum-source", "import", "node"] },
    transform: { target: "node20", define },
    // Node calls what hooks export; and what is loaded on demand may export more than it says.
    preserveEntrySignatures: "allow-extension",
    plugins: [inlineVersion(version), ...plugins],
  });
  const ending = format === "cjs" ? "cjs" : "js";
  try {
    await bundled.write({
      dir,
      format,
      entryFileNames: `[name].${ending}`,
      chunkFileNames: `[name].${ending}`,
      minify: false,
      codeSplitting: together ? { groups: together } : false,
      sourcemap: false,
      comments: { legal: false, annotation: false, jsdoc: false },
    });
  } finally {
    await bundled.close();
  }
}
