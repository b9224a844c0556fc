// Programs that tests need and npm does not have: installed as Debian packages, by name.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** How long an installation may take. */
export const installMs = 600_000;

/** Nothing, or the end of what it said where it failed. */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      timeout: installMs,
    });
    let said = "";
    const listen = (chunk) => {
      said = (said + chunk).slice(-2000);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(code === 0 ? undefined : said));
  });
}

/** Installs the packages; gives what went wrong, or nothing. */
export async function installPackages(names) {
  process.stderr.write(`installing ${names.join(", ")} with apt-get\n`);
  const apt = process.getuid?.() === 0 ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  // Another test file may be installing: its lock is waited for.
  const wait = ["-o", "DPkg::Lock::Timeout=300"];
  const aptGet = (...args) => run(apt[0], [...apt.slice(1), ...wait, ...args]);
  const install = () => aptGet("install", "-y", "--no-install-recommends", ...names);
  // The lists of packages may be old, or not be there at all.
  return (await install()) && ((await aptGet("update")) ?? (await install()));
}

/** The path of a program in PATH, or nothing. */
export const findProgram = (program) =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** The path of a program whose package has its name. Installs it where it is missing; throws where that cannot be done. */
export async function ensureProgram(name) {
  const there = findProgram(name);
  if (there) return there;
  const problem = await installPackages([name]);
  const installed = findProgram(name);
  if (installed) return installed;
  throw new Error(`There is no ${name}, and it could not be installed: install the package ${name}.\n${problem ?? ""}`);
}
