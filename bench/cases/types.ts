// What the compiler has to do for a program with 200 tools: types/program.ts writes it, the workspace's TypeScript checks it. bare is
// the same schemas with the types that zod itself gives.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../test/house/source.ts";
import type { Case } from "../case.ts";
import { dialects, type Form, programText } from "../types/program.ts";

interface Program {
  readonly folder: string;
}

const count = 200;
/** The names of the rows: the form in which every library takes a schema has no name of its own. */
const variantOf = (form: string): string => (form === "z.object" ? `${count} tools` : `${count} tools, ${form}`);

const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

/** As strict as people are, with the declarations of libraries as they are published. */
const config = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023", "DOM"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: ["node"],
  },
  files: ["program.ts"],
};

function figureOf(output: string, name: string): number {
  const figure = Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(output)?.[1] ?? Number.NaN);
  if (Number.isNaN(figure)) throw new Error(`the compiler does not tell: ${name}`);
  return figure;
}

export const types: Case<Program> = {
  name: "types",
  help: `tsc for a program of ${count} tools with zod schemas: instantiations of types, time to check, memory`,
  better: { instantiations: "low", checkMs: "low", memoryMb: "low" },
  variants: ({ name }) => Object.keys(dialects[name] ?? {}).map(variantOf),
  baseline: () => variantOf("z.object"),
  async setup({ name }, variant) {
    const form = Object.keys(dialects[name] ?? {}).find((one) => variantOf(one) === variant) as Form;
    // Within the workspace, so that its packages are found.
    const folder = join(root, ".cache", "bench-types", `${name} ${form}`.replace(/\W+/g, "-"));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const dialect = dialects[name]?.[form];
    if (!dialect) throw new Error(`${name} has no program for ${variant}`);
    writeFileSync(join(folder, "program.ts"), programText(dialect, count));
    return { folder };
  },
  async measure({ folder }) {
    // One thread: several would share the work, and do some of it twice.
    const args = [tsc, "-p", folder, "--extendedDiagnostics", "--singleThreaded"];
    const { status, stdout: output } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000 });
    if (status !== 0) throw new Error(`the program does not compile: ${output}`);
    return {
      instantiations: figureOf(output, "Instantiations"),
      types: figureOf(output, "Types"),
      checkMs: Math.round(figureOf(output, "Check time") * 1000),
      totalMs: Math.round(figureOf(output, "Total time") * 1000),
      memoryMb: Math.round(figureOf(output, "Memory used") / 1024),
    };
  },
  teardown: ({ folder }) => rmSync(folder, { recursive: true, force: true }),
};
