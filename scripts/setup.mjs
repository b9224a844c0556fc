// Makes a clone ready to run: checks the Node version and installs the dependencies when they are missing or not
// those that package-lock.json names. Plain JavaScript, because at this point nothing but Node and npm is there.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const oldestNode = [20, 19];

/** Why this Node cannot be used, or nothing. */
export function checkNode(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return undefined;
  return `Plenum needs Node ${oldestNode.join(".")} or newer; this is ${version}. Install a newer one from https://nodejs.org and try again.`;
}

/**
 * Why the installed packages are not those that the lock file names, or nothing. Contents are compared, not times:
 * a checkout changes the times of files that it leaves as they were. Packages for other platforms are not expected.
 */
export function checkInstalled(wanted, installed, platform = process) {
  const there = installed.packages ?? {};
  for (const [path, entry] of Object.entries(wanted.packages ?? {})) {
    if (!path.startsWith("node_modules/") && !path.includes("/node_modules/")) continue;
    const found = there[path];
    if (found) {
      if (found.version !== entry.version || found.integrity !== entry.integrity) return `${path} has another version`;
      continue;
    }
    const fits = (list, value) => list === undefined || list.includes(value);
    const elsewhere = !fits(entry.os, platform.platform) || !fits(entry.cpu, platform.arch) || entry.libc !== undefined;
    const mayLack = entry.peer === true || (entry.optional === true && (elsewhere || !(entry.os || entry.cpu)));
    if (!mayLack) return `${path} is not installed`;
  }
  return undefined;
}

function missing() {
  const marker = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(marker)) return "they are not installed yet";
  try {
    const read = (path) => JSON.parse(readFileSync(path, "utf8"));
    return checkInstalled(read(join(root, "package-lock.json")), read(marker));
  } catch (error) {
    return `what is installed cannot be read (${error.message})`;
  }
}

function install() {
  // Under npm, npm_execpath is npm's own script: it needs no shell on any platform.
  const npm = process.env.npm_execpath;
  const [command, ...args] = npm?.endsWith("js") ? [process.execPath, npm, "ci"] : ["npm", "ci"];
  const options = { cwd: root, stdio: "inherit", shell: command === "npm" && process.platform === "win32" };
  return spawnSync(command, args, options).status === 0;
}

function main() {
  const badNode = checkNode(process.version);
  if (badNode) {
    console.error(badNode);
    return 1;
  }
  const reason = missing();
  if (!reason) return 0;
  console.log(`setup: installing the dependencies with "npm ci" (${reason})`);
  if (!install()) {
    console.error('setup: "npm ci" failed; its messages are above. It needs to reach a package registry once.');
    return 1;
  }
  console.log("setup: done");
  return 0;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) process.exitCode = main();
