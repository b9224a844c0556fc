// The browser that the tests of pages need: Chromium as the system packages it, which gets the fixes of the system. Where there is
// none it is installed by its name; where that cannot be done it is a failure.
import { existsSync } from "node:fs";
import { installMs, installPackages } from "./debian.mjs";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** How long a test should wait for `ensureChromium`. */
export const chromiumMs = installMs;

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

/** The path of the program. `PLENUM_CHROMIUM` names another one. */
export async function ensureChromium() {
  const named = process.env.PLENUM_CHROMIUM;
  if (named) return named;
  const there = find();
  if (there) return there;
  const problem = await installPackages(["chromium"]);
  const installed = find();
  if (installed) return installed;
  throw new Error(
    `There is no Chromium, and it could not be installed: install the package chromium, or set PLENUM_CHROMIUM to its path.\n${problem ?? ""}`,
  );
}
