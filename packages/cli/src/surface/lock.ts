// The lock file: a surface as text that is the same for the same surface, with a digest for each item, so that a review sees at
// a glance which of them changed under its old name.
import { Failure } from "../failure.ts";
import { digestOf, toCanonicalText } from "./canonical.ts";
import { readIfThere } from "./own-file.ts";
import type { Surface } from "./surface.ts";

/** Of the form of the file. A file of another one is refused. */
export const lockVersion = 1;

export const usualLockFile = "plenum.lock.json";

const lists = ["tools", "resources", "resourceTemplates", "prompts"] as const;

/** Where the digests of a lock and a surface differ, something differs; the revision is not part of the one of the whole. */
export function digestOfSurface({ revision: _, ...surface }: Surface): string {
  return digestOf(surface);
}

export function formatLock(surface: Surface): string {
  const withDigest = <T extends object>(item: T): object => ({ ...item, digest: digestOf(item) });
  const listed = Object.fromEntries(lists.map((name) => [name, surface[name].map(withDigest)]));
  return toCanonicalText({
    lockVersion,
    digest: digestOfSurface(surface),
    revision: surface.revision,
    server: withDigest(surface.server),
    capabilities: surface.capabilities,
    ...listed,
  });
}

/** Throws a Failure where there is no such file. */
export async function readLock(path: string): Promise<Surface> {
  const text = await readIfThere(path);
  if (text === undefined) {
    throw new Failure("usage", `File not found: ${path}`, {
      code: "file_not_found",
      hint: `plenum lock TARGET -o ${path} writes it.`,
    });
  }
  return parseLock(text, path);
}

/**
 * The surface of a lock file.
 * @param name of the file, for messages
 * Throws a Failure for what is no lock file, and for one whose digests do not fit: it was edited by hand, or merged badly.
 */
export function parseLock(text: string, name: string): Surface {
  const value = parseObject(text, name);
  if (value.lockVersion !== lockVersion) {
    const isOther = typeof value.lockVersion === "number";
    throw new Failure(
      "usage",
      isOther ? `${name} is a lock of version ${value.lockVersion}` : `${name} is no lock file`,
      {
        code: "invalid_lock",
        hint: isOther
          ? `This program reads version ${lockVersion}. Lock again with it, or take a newer one.`
          : "plenum lock TARGET writes one.",
      },
    );
  }
  const surface = toSurface(value);
  const stale = surface && findStale(value, surface);
  if (!surface || stale !== undefined) {
    throw new Failure("usage", surface ? `${name}: the digest of ${stale} does not fit` : `${name} lacks a part`, {
      code: "invalid_lock",
      hint: "It was edited by hand, or merged badly. plenum lock TARGET writes it again; look at what changes.",
    });
  }
  return surface;
}

/** Whether a text is meant as a lock file, however broken. */
export function isLockText(text: string): boolean {
  return /"lockVersion"\s*:/.test(text);
}

function parseObject(text: string, name: string): { readonly [key: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure("usage", `${name} is no JSON: ${(error as Error).message}`, {
      code: "invalid_lock",
      hint: "Are there marks of a merge in it? plenum lock TARGET writes it again.",
    });
  }
  return isRecord(value) ? value : {};
}

function toSurface(value: { readonly [key: string]: unknown }): Surface | undefined {
  const { revision, server, capabilities } = value;
  if (typeof revision !== "string" || !isRecord(server) || !isRecord(capabilities)) return undefined;
  const withoutDigest = ({ digest: _, ...item }: { readonly [key: string]: unknown }): object => item;
  const listed = lists.map((name) => [name, value[name]] as const);
  if (!listed.every(([, list]) => Array.isArray(list) && list.every(isRecord))) return undefined;
  const items = Object.fromEntries(
    listed.map(([name, list]) => [name, (list as { readonly [key: string]: unknown }[]).map(withoutDigest)]),
  );
  return { revision, server: withoutDigest(server), capabilities, ...items } as unknown as Surface;
}

/** Which digest is not that of what it stands for. */
function findStale(value: { readonly [key: string]: unknown }, surface: Surface): string | undefined {
  for (const name of lists) {
    const written = value[name] as readonly { readonly digest?: unknown }[];
    const at = surface[name].findIndex((item, index) => digestOf(item) !== written[index]?.digest);
    if (at >= 0) return `${name} ${at + 1}`;
  }
  if (digestOf(surface.server) !== (value.server as { readonly digest?: unknown }).digest) return "server";
  return digestOfSurface(surface) === value.digest ? undefined : "the whole";
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
