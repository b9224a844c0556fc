// What an installation of a library brings: packages, files and megabytes. It needs the npm registry.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../test/house/source.ts";
import type { Case } from "../case.ts";
import { round } from "../drive/statistics.ts";

interface Installation {
  readonly folder: string;
  readonly packages: readonly string[] | "pack";
}

const maxMs = 180_000;

function npm(folder: string, ...args: string[]): string {
  const path = process.env.npm_execpath;
  const [command, all] = path?.endsWith("js") ? [process.execPath, [path, ...args]] : ["npm", args];
  return execFileSync(command, all, {
    cwd: folder,
    encoding: "utf8",
    timeout: maxMs,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** The library as it would be published, as a file to install. */
function pack(folder: string): string {
  const library = join(root, "packages", "plenum");
  const [packed] = JSON.parse(npm(library, "pack", "--json", "--ignore-scripts", "--pack-destination", folder)) as [
    { filename: string },
  ];
  return join(folder, packed.filename);
}

export const footprint: Case<Installation> = {
  name: "footprint",
  help: "what an installation into an empty folder brings: packages, megabytes, files",
  better: {},
  repeats: 1,
  isSteady: true,
  variants: (target) => Object.keys(target.footprint ?? {}),
  baseline: () => undefined,
  async setup(target, variant) {
    const folder = mkdtempSync(join(tmpdir(), "plenum-footprint-"));
    return { folder, packages: target.footprint?.[variant] ?? [] };
  },
  async measure({ folder, packages }) {
    writeFileSync(join(folder, "package.json"), '{"private":true}');
    const wanted = packages === "pack" ? [pack(folder)] : packages;
    npm(folder, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-progress", ...wanted);
    const modules = join(folder, "node_modules");
    const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as { packages: object };
    let bytes = 0;
    let scriptBytes = 0;
    let files = 0;
    for (const path of readdirSync(modules, { recursive: true, encoding: "utf8" })) {
      const found = statSync(join(modules, path));
      if (!found.isFile()) continue;
      files++;
      bytes += found.size;
      if (/\.[cm]?js$/.test(path)) scriptBytes += found.size;
    }
    const mb = (size: number): number | null => round(size / 1024 / 1024);
    return { packages: Object.keys(lock.packages).length, mb: mb(bytes), scriptMb: mb(scriptBytes), files };
  },
  teardown: ({ folder }) => rmSync(folder, { recursive: true, force: true }),
};
