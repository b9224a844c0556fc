// The browser that the tests of pages need: Chromium as the system packages it, which gets the fixes of the system. Where there is
// none it is installed by its name; where that cannot be done it is a failure.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** How long a test should wait for `ensureChromium`. */
export const chromiumMs = 600_000;

/** What it is started with. It asks nobody but who it is sent to. */
export const chromiumArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const find = () => places.find((place) => existsSync(place));

/** The program, or the end of what it said where it failed. */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      timeout: chromiumMs,
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

/** The path of the program. `PLENUM_CHROMIUM` names another one. */
export async function ensureChromium() {
  const named = process.env.PLENUM_CHROMIUM;
  if (named) return named;
  const there = find();
  if (there) return there;
  process.stderr.write("installing chromium with apt-get\n");
  const apt = process.getuid?.() === 0 ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  const aptGet = (...args) => run(apt[0], [...apt.slice(1), ...args]);
  const install = () => aptGet("install", "-y", "--no-install-recommends", "chromium");
  // The lists of packages may be old, or not be there at all.
  const problem = (await install()) && ((await aptGet("update")) ?? (await install()));
  const installed = find();
  if (installed) return installed;
  throw new Error(
    `There is no Chromium, and it could not be installed: install the package chromium, or set PLENUM_CHROMIUM to its path.\n${problem ?? ""}`,
  );
}
