// Packages that are lent to a server for one run: installed by npm in a folder of their own, which is gone afterwards. The project
// is not touched.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { Failure } from "../failure.ts";
import { type Output, toHarmless } from "../output.ts";

export interface Extras {
  readonly folder: string;
  remove(): void;
}

// No option of npm's, and nothing that a shell, which Windows needs for npm, would read as its own.
const wrong = /^-|[\s"'`$&|<>%!;()^]/;

/** Throws a Failure where npm cannot install them. */
export async function installExtras(packages: readonly string[], output: Output, signal: AbortSignal): Promise<Extras> {
  const bad = packages.find((one) => one === "" || wrong.test(one));
  if (bad !== undefined) {
    throw new Failure("usage", `--with "${bad}" names no package`, {
      hint: "Such as: --with zod, --with zod@4.1.0 or --with ./my-package",
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "plenum-with-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // Without a package.json npm looks for one in the folders above.
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  output.note(`Installing ${packages.join(", ")} for this run …`);
  try {
    await install(folder, packages, signal);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}

async function install(folder: string, packages: readonly string[], signal: AbortSignal): Promise<void> {
  const specs = packages.map((one) => (/^(?:\.{1,2}[\\/]|[\\/])/.test(one) ? resolve(one) : one));
  const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", ...specs];
  // Hosts start us with hardly a PATH; npm comes with Node.
  const PATH = [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);
  const child = spawn("npm", args, {
    cwd: folder,
    env: { ...process.env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    signal,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000);
    });
  }
  const failure = await new Promise<string | undefined>((settle) => {
    child.once("error", (error) => settle(error.message));
    child.once("close", (code) => settle(code === 0 ? undefined : said.trim() || `npm exited with code ${code}`));
  });
  if (failure === undefined) return;
  throw new Failure("usage", `npm could not install ${packages.join(", ")}:\n${toHarmless(failure)}`, {
    code: "install_failed",
    hint: "Are the names right, and is the registry reachable? Try: npm view NAME",
  });
}
