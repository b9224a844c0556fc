// Content of tools, prompts and resources as text for people, and as files.
import { constants, existsSync, lstatSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Content, ResourceContents } from "plenum";
import { Failure } from "./failure.ts";
import { toHarmless } from "./output.ts";

/** One block below the other. */
export function formatContent(content: readonly Content[]): string {
  return content.map(formatBlock).join("\n");
}

function formatBlock(block: Content): string {
  switch (block.type) {
    case "text":
      return toHarmless(block.text);
    case "image":
    case "audio":
      return `[${block.type} ${toHarmless(block.mimeType)}, ${formatBytes(bytesOf(block.data))}]`;
    case "resource_link":
      return toHarmless(`[link ${block.uri}${block.title ? ` ${block.title}` : ""}]`);
    case "resource":
      return formatContents(block.resource);
    default:
      return toHarmless(JSON.stringify(block));
  }
}

/** Text as it is, what is no text as a line about it. */
export function formatContents(contents: ResourceContents): string {
  if ("text" in contents && typeof contents.text === "string") return toHarmless(contents.text);
  const blob = "blob" in contents && typeof contents.blob === "string" ? contents.blob : "";
  return toHarmless(`[${contents.mimeType ?? "bytes"} ${contents.uri}, ${formatBytes(bytesOf(blob))}]`);
}

const bytesOf = (base64: string): number => Buffer.byteLength(base64, "base64");

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** What of a block can be a file. */
function dataOf(block: Content): { readonly data: string | Uint8Array; readonly type: string } | undefined {
  if (block.type === "text") return { data: block.text, type: "text/plain" };
  if (block.type === "image" || block.type === "audio")
    return { data: Buffer.from(block.data, "base64"), type: block.mimeType };
  return block.type === "resource" ? dataOfContents(block.resource) : undefined;
}

export function dataOfContents(contents: ResourceContents): {
  readonly data: string | Uint8Array;
  readonly type: string;
} {
  const { mimeType: type = "application/octet-stream" } = contents;
  if ("text" in contents && typeof contents.text === "string")
    return { data: contents.text, type: contents.mimeType ?? "text/plain" };
  return {
    data: Buffer.from("blob" in contents && typeof contents.blob === "string" ? contents.blob : "", "base64"),
    type,
  };
}

/** Writes the blocks to a file, or several into a folder by number and type. Gives the paths. Throws a Failure where that fails. */
export function saveContent(content: readonly Content[], path: string, isForced: boolean): string[] {
  return savePieces(
    content.flatMap((block) => dataOf(block) ?? []),
    path,
    isForced,
  );
}

/**
 * Never through a symbolic link: who can write to the folder would choose where a server's bytes go.
 * @param isForced files that are there are written over
 */
export function savePieces(
  pieces: readonly { readonly data: string | Uint8Array; readonly type: string }[],
  path: string,
  isForced: boolean,
): string[] {
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  if (pieces.length === 0)
    throw new Failure("usage", "There is nothing to write: the result has no content", { code: "no_content" });
  if (pieces.length > 1 && !isFolder) {
    throw new Failure("usage", `${path} is one file, and there are ${pieces.length} pieces`, {
      hint: "Name a folder that exists.",
    });
  }
  const paths = pieces.map(({ type }, index) => (isFolder ? join(path, `${index + 1}.${suffixOf(type)}`) : path));
  // All before the first, so that nothing is written where not all can be.
  for (const one of paths) assertFree(one, isForced);
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0 } = constants;
  for (const [index, { data }] of pieces.entries()) {
    const one = paths[index] as string;
    const isOver = isForced || isDevice(one);
    try {
      writeFileSync(one, data, { flag: isOver ? ((O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW) as never) : "wx" });
    } catch (error) {
      throw new Failure("usage", `${one} cannot be written: ${(error as Error).message}`, {
        code: "not_written",
        cause: error,
      });
    }
  }
  return paths;
}

/** Such as /dev/null, or a pipe with a name: nothing is lost by writing to it. */
function isDevice(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile() && !stats.isSymbolicLink();
}

function assertFree(path: string, isForced: boolean): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) {
    throw new Failure("usage", `${path} is a symbolic link, which is not written through`, {
      code: "symbolic_link",
      hint: "Name the file that it leads to, or another one.",
    });
  }
  if (stats?.isFile() && !isForced) {
    throw new Failure("usage", `${path} is there already`, {
      code: "file_exists",
      hint: "Give another name, or --force to write over it.",
    });
  }
}

/** Of the commands that write what a server sends. */
export const forceOption = {
  kind: "flag",
  short: "f",
  summary: "With --output: write over files that are there",
} as const;

const suffixes: { readonly [type: string]: string } = {
  "text/plain": "txt",
  "text/markdown": "md",
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
};

/** Of a type that a server names: letters and digits alone, since it becomes part of a file's name. */
function suffixOf(type: string): string {
  const [bare = ""] = type.split(";");
  return suffixes[bare] ?? (/^[a-z]+\/([a-z0-9]{1,10})$/.exec(bare)?.[1] || "bin");
}
