// Loads the server that a file exports, with the library that the file itself uses.
import { pathToFileURL } from "node:url";
import type { connect, Endpoint } from "plenum";
import { Failure } from "../failure.ts";
import type { FileSpec } from "../target/spec.ts";
import { assertFile } from "./file-spec.ts";

/** The library as the file sees it. Its classes are those that the server's errors are made of. */
export interface OwnLibrary {
  connect: typeof connect;
  /** An export path of it: `"plenum/stdio"`. Falls back to ours where the file has none. */
  import<T>(path: string): Promise<T>;
}

export interface LoadedServer {
  readonly server: Endpoint & { close?(): Promise<void> };
  readonly library: OwnLibrary;
}

export interface LoadOptions {
  /** Told the absolute path of every file that is loaded for the server, those of installed packages left out. */
  readonly onFile?: ((path: string) => void) | undefined;
}

const usualNames = ["default", "mcp", "server", "app"];

/** Throws a Failure that says what is wrong with the file. */
export async function loadServer(spec: FileSpec, options: LoadOptions = {}): Promise<LoadedServer> {
  assertFile(spec);
  options.onFile?.(spec.path);
  const module = (await import(pathToFileURL(spec.path).href)) as { readonly [name: string]: unknown };
  const names = spec.exportName ? [spec.exportName] : usualNames;
  const found = names.map((name) => module[name]).find(isServer);
  if (!found) throw new Failure("usage", `${spec.path} exports no Plenum server`, { code: "no_server" });
  const plenum = await import("plenum");
  return { server: found, library: { connect: plenum.connect, import: (path) => import(path) } };
}

function isServer(value: unknown): value is LoadedServer["server"] {
  if (typeof value !== "object" || value === null) return false;
  const { describe, call, watch } = value as Partial<Endpoint>;
  return [describe, call, watch].every((one) => typeof one === "function");
}
