// Packages of the system that tests need, installed with apt-get where they are not there.
import { spawn } from "node:child_process";

/** How long it may take. */
export const installMs = 600_000;

/** Undefined, or the end of what the program said where it failed. */
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

/** Undefined, or why they could not be installed. */
export async function installPackages(names) {
  process.stderr.write(`installing ${names.join(", ")} with apt-get\n`);
  const apt = process.getuid?.() === 0 ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  const aptGet = (...args) => run(apt[0], [...apt.slice(1), ...args]);
  const install = () => aptGet("install", "-y", "--no-install-recommends", ...names);
  // The lists of packages may be old, or not be there at all.
  return (await install()) && ((await aptGet("update")) ?? (await install()));
}
