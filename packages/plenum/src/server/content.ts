// Content blocks for what handlers return: text, images, audio, links to resources and resources in place.
// Pure functions of their arguments; mistakes are TypeErrors that say what to write instead.
import type {
  Annotations,
  AudioContent,
  EmbeddedResource,
  ImageContent,
  Resource,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "../protocol/model.ts";
import { encodeBase64, isBase64 } from "../util/base64.ts";

/** What images and audio have in common. The type is `mimeType`, else by `format`, else by the suffix of the file. */
export interface MediaOptions {
  /** Short name of the type: "png", "mp3". */
  readonly format?: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
}

export interface MediaData extends MediaOptions {
  /** Bytes, or base64. */
  readonly data: Uint8Array | string;
  readonly path?: never;
}

export interface MediaFile extends MediaOptions {
  /** A file to read. Needs Node, Bun or Deno. */
  readonly path: string | URL;
  readonly data?: never;
}

export interface EmbeddedOptions {
  readonly uri: string;
  readonly mimeType?: string;
  /** Exactly one of `text` and `blob`. */
  readonly text?: string;
  /** Bytes, or base64. */
  readonly blob?: Uint8Array | string;
  readonly annotations?: Annotations;
}

export function text(text: string, { annotations }: { readonly annotations?: Annotations } = {}): TextContent {
  return { type: "text", text, ...(annotations && { annotations }) };
}

/** An image: png, jpg/jpeg, gif or webp by suffix; bare data is taken for image/png. */
export function image(source: MediaData): ImageContent;
export function image(source: MediaFile): Promise<ImageContent>;
export function image(source: MediaData | MediaFile): ImageContent | Promise<ImageContent> {
  return toMedia(source, imageKind);
}

/** Audio: wav, mp3, ogg, flac, aac or m4a by suffix; bare data is taken for audio/wav. */
export function audio(source: MediaData): AudioContent;
export function audio(source: MediaFile): Promise<AudioContent>;
export function audio(source: MediaData | MediaFile): AudioContent | Promise<AudioContent> {
  return toMedia(source, audioKind);
}

/** A pointer to a resource, which the client may read. */
export function resourceLink(resource: Resource): ResourceLink {
  assertUri(resource.uri, "resourceLink");
  if (resource.mimeType !== undefined) assertMimeType(resource.mimeType, "resourceLink");
  return { ...resource, type: "resource_link" };
}

/** A resource with its contents. */
export function embedded({ uri, mimeType, text, blob, annotations }: EmbeddedOptions): EmbeddedResource {
  assertUri(uri, "embedded");
  if (mimeType !== undefined) assertMimeType(mimeType, "embedded");
  const base = { uri, ...(mimeType !== undefined && { mimeType }) };
  let resource: ResourceContents;
  if (text !== undefined && blob === undefined) resource = { ...base, text };
  else if (blob !== undefined && text === undefined) resource = { ...base, blob: toBase64(blob, "embedded", "blob") };
  else throw new TypeError("embedded: give exactly one of text and blob");
  return { type: "resource", resource, ...(annotations && { annotations }) };
}

interface Kind<T extends string> {
  readonly type: T;
  /** The type of bare data. */
  readonly fallback: string;
  readonly bySuffix: ReadonlyMap<string, string>;
}

const imageKind: Kind<"image"> = {
  type: "image",
  fallback: "image/png",
  bySuffix: new Map([
    ["png", "image/png"],
    ["jpg", "image/jpeg"],
    ["jpeg", "image/jpeg"],
    ["gif", "image/gif"],
    ["webp", "image/webp"],
  ]),
};

const audioKind: Kind<"audio"> = {
  type: "audio",
  fallback: "audio/wav",
  bySuffix: new Map([
    ["wav", "audio/wav"],
    ["mp3", "audio/mpeg"],
    ["ogg", "audio/ogg"],
    ["flac", "audio/flac"],
    ["aac", "audio/aac"],
    ["m4a", "audio/mp4"],
  ]),
};

interface Media<T extends string> {
  readonly type: T;
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
}

function toMedia<T extends string>(source: MediaData | MediaFile, kind: Kind<T>): Media<T> | Promise<Media<T>> {
  const { data, path, annotations } = source;
  if ((data === undefined) === (path === undefined))
    throw new TypeError(`${kind.type}: give exactly one of path and data`);
  const mimeType = mimeTypeOf(source, kind);
  const block = (base64: string): Media<T> => ({
    type: kind.type,
    data: base64,
    mimeType,
    ...(annotations && { annotations }),
  });
  if (data !== undefined) return block(toBase64(data, kind.type, "data"));
  return readBytes(path, kind.type).then((bytes) => block(encodeBase64(bytes)));
}

function mimeTypeOf<T extends string>({ mimeType, format, path }: MediaData | MediaFile, kind: Kind<T>): string {
  if (mimeType !== undefined) return assertMimeType(mimeType, kind.type);
  if (format !== undefined) {
    const name = format.toLowerCase();
    return assertMimeType(kind.bySuffix.get(name) ?? `${kind.type}/${name}`, kind.type);
  }
  if (path === undefined) return kind.fallback;
  const name = typeof path === "string" ? path : path.pathname;
  const suffix = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const known = kind.bySuffix.get(suffix);
  if (known === undefined) {
    const suffixes = [...kind.bySuffix.keys()].join(", ");
    throw new TypeError(
      `${kind.type}: the type of ${JSON.stringify(name)} is not known by its suffix (${suffixes}); give format or mimeType`,
    );
  }
  return known;
}

function toBase64(data: Uint8Array | string, what: string, field: string): string {
  if (typeof data !== "string") return encodeBase64(data);
  if (!isBase64(data)) {
    throw new TypeError(
      `${what}: ${field} is a string that is not base64 (RFC 4648, padded, without a "data:" prefix); pass base64 or bytes`,
    );
  }
  return data;
}

const token = "[A-Za-z0-9!#$&^_.+-]+";
const mimeTypePattern = new RegExp(`^${token}/${token}(?:[ \\t]*;[ -~]*)?$`);

export function assertMimeType(mimeType: string, what: string): string {
  if (!mimeTypePattern.test(mimeType))
    throw new TypeError(`${what}: ${JSON.stringify(mimeType)} is no MIME type; write type/subtype, as in "image/png"`);
  return mimeType;
}

function assertUri(uri: string, what: string): void {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri))
    throw new TypeError(
      `${what}: ${JSON.stringify(uri)} is no absolute URI; write scheme:…, as in "file:///notes.txt"`,
    );
}

interface FileAccess {
  readFile(path: string | URL): Promise<Uint8Array>;
}

/** The file system without an import, so that this file also loads where there is none. */
async function readBytes(path: string | URL, what: string): Promise<Uint8Array> {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => FileAccess | undefined } };
  const files = process?.getBuiltinModule?.("node:fs/promises");
  if (files === undefined) throw new TypeError(`${what}: reading a file needs Node, Bun or Deno; pass data instead`);
  return await files.readFile(path);
}
