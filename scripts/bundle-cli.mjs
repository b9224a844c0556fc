// The code of the command line: main.js, one file for each part that is loaded on demand, and chunks of what they share. What
// is in node_modules stays there, the library too.
import { chmodSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";

/** What is started: by a person, and by `plenum dev` as a process of its own. */
const programs = ["main", "dev/worker"];

/** What Node runs in a thread of its own, one file each: it shares nothing with the others, and reads little. */
const hooks = ["dev/extras-hooks", "load/module-hooks"];

/** Of the library, what every run of the program needs, and what is a few lines without the chunks that it lies in. */
const inlined = ["plenum/util/nearest"];

/**
 * What is loaded together is one file each, with what it imports: what every command starts with, and what those start with
 * that connect to a server. Reading a file and finding it takes Node longer than running what is in most of them.
 */
const groups = {
  core: ["cli", "commands", "command", "failure", "output", "parse"],
  client: [
    ...["session", "target/find", "arguments", "content", "log-lines", "unknown-tool", "progress"],
    "commands/call",
  ],
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

/**
 * Imports of Node's own modules, as what they are worth: an import makes a module of all that each exports, and so loads what
 * Node itself loads on demand, such as streams for node:fs.
 */
const withoutBuiltinImports = {
  name: "without-builtin-imports",
  renderChunk(code) {
    let written = "";
    let at = 0;
    for (const { type, source, specifiers, start, end } of parseAst(code).body) {
      if (type !== "ImportDeclaration" || !source.value.startsWith("node:")) continue;
      const whole = specifiers.filter((one) => one.type !== "ImportSpecifier").map((one) => one.local.name);
      const named = specifiers
        .filter((one) => one.type === "ImportSpecifier")
        .map(({ imported, local }) => (imported.name === local.name ? local.name : `${imported.name}: ${local.name}`));
      const names = named.length > 0 ? [...whole, `{ ${named.join(", ")} }`] : whole;
      const taken = names.map((name) => `const ${name} = process.getBuiltinModule("${source.value}");`);
      written += code.slice(at, start) + taken.join(" ");
      at = end;
    }
    return { code: written + code.slice(at), map: null };
  },
};

/**
 * What is loaded on demand and lies in a chunk with others has a file that only leads there. Who imports it is led to the chunk
 * itself.
 */
const withoutDetours = {
  name: "without-detours",
  generateBundle(_options, files) {
    const chunks = Object.values(files).filter((file) => file.type === "chunk");
    const detours = new Map();
    for (const { fileName, code, isDynamicEntry, imports, moduleIds } of chunks) {
      if (!isDynamicEntry || moduleIds.length > 0 || imports.length !== 1) continue;
      const [{ specifiers }] = parseAst(code).body;
      const members = specifiers.map(({ imported, local }) => `${local.name}: chunk.${imported.name}`);
      detours.set(fileName, { to: imports[0], members: members.join(", ") });
      delete files[fileName];
    }
    for (const chunk of chunks) {
      const folder = posix.dirname(chunk.fileName);
      chunk.code = chunk.code.replace(/\bimport\("(\.[^"]+)"\)/g, (whole, path) => {
        const detour = detours.get(posix.join(folder, path));
        if (!detour) return whole;
        const to = posix.relative(folder, detour.to);
        return `import("${to.startsWith(".") ? to : `./${to}`}").then((chunk) => ({ ${detour.members} }))`;
      });
    }
  },
};

/** Writes the code of packages/cli into a folder beside its dist. Throws when it cannot be bundled. */
export async function bundleCli(folder, outDir) {
  const together = Object.entries(groups).map(([name, files], at) => ({
    name,
    // What both need is in the first.
    priority: -1 - at,
    test: (id) => files.some((file) => id === join(folder, "src", `${file}.ts`)),
  }));
  await write(folder, outDir, programs, { groups: together });
  for (const name of hooks) await write(folder, outDir, [name], false);
  chmodSync(join(outDir, "main.js"), 0o755);
}

async function write(folder, outDir, names, codeSplitting) {
  const { version, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const packages = Object.keys({ ...dependencies, ...optionalDependencies });
  const bundled = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, join(folder, "src", `${name}.ts`)])),
    cwd: folder,
    platform: "node",
    external: (id) =>
      !inlined.includes(id) &&
      (id.startsWith("node:") || packages.some((name) => id === name || id.startsWith(`${name}/`))),
    resolve: { conditionNames: ["plenum-source", "import", "node"] },
    transform: { target: "node20" },
    // Node calls what hooks export; and what is loaded on demand may export more than it says.
    preserveEntrySignatures: "allow-extension",
    plugins: [inlineVersion(version), withoutBuiltinImports, withoutDetours],
  });
  try {
    await bundled.write({
      dir: outDir,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      minify: false,
      codeSplitting,
      sourcemap: false,
      comments: { legal: false, annotation: false, jsdoc: false },
    });
  } finally {
    await bundled.close();
  }
}
