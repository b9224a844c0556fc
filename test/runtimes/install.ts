// The runtimes besides Node, installed apart from the workspace. One that is not there afterwards, or does not run, is a
// failure.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apartFolder, ensureApart } from "../apart.ts";

export type Runtime = "bun" | "deno" | "workerd";

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8")) as {
  readonly dependencies: Record<Runtime, string>;
};

/** The package that holds a runtime's program for this platform, and the program in it. No install script is needed. */
function programIn(runtime: Runtime): [name: string, path: string] {
  const [os, cpu] = [process.platform === "win32" ? "windows" : process.platform, process.arch];
  const exe = os === "windows" ? ".exe" : "";
  switch (runtime) {
    case "bun":
      return [`@oven/bun-${os}-${cpu === "arm64" ? "aarch64" : cpu}`, `bin/bun${exe}`];
    case "deno":
      return [`@deno/${process.platform}-${cpu}${os === "linux" ? "-glibc" : ""}`, `deno${exe}`];
    case "workerd":
      return [`@cloudflare/workerd-${os}-${cpu === "x64" ? "64" : cpu}`, `bin/workerd${exe}`];
  }
}

/** The path of a runtime's program. */
export function programOf(runtime: Runtime): string {
  return join(apartFolder("test/runtimes"), "node_modules", ...programIn(runtime));
}

const runtimes = Object.keys(dependencies) as Runtime[];

/** Installs the runtimes if they are not there, and tries each. */
export async function ensureRuntimes(): Promise<void> {
  await ensureApart("test/runtimes");
  for (const runtime of runtimes) {
    const said = execFileSync(programOf(runtime), ["--version"], { encoding: "utf8", timeout: 30_000 });
    // workerd calls itself by the date, which is in the middle of its version: 1.20261023.1 is 2026-10-23.
    const version = dependencies[runtime].replace(/^1\.(\d{4})(\d\d)(\d\d)\.\d+$/, "$1-$2-$3");
    if (!said.includes(version)) throw new Error(`${runtime} should be ${version}, but says: ${said}`);
  }
}
