// Resources and templates: what is registered, which entry a URI belongs to, and how what a handler returns becomes
// contents. Specification: server/resources.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import { McpError } from "../protocol/errors.ts";
import type {
  Annotations,
  CacheScope,
  Icon,
  Meta,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
} from "../protocol/model.ts";
import { encodeBase64 } from "../util/base64.ts";
import { quote } from "../util/quote.ts";
import { isUriTemplate, parseUriTemplate, type UriTemplate } from "../util/uri-template.ts";
import { assertCompleters, type Completer } from "./completion.ts";
import type { Context } from "./context.ts";
import { type Entry, isVisible, type Registry, type Visible } from "./registry.ts";

type DatedAnnotations = Omit<Annotations, "lastModified"> & { readonly lastModified?: string | Date };

export interface ResourceOptions<Variable extends string, Lifespan> {
  /** Default: the URI or template itself. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  /** Default: by what the handler returns, text/plain, application/json or application/octet-stream. */
  readonly mimeType?: string;
  /** Raw size in bytes, before any encoding. */
  readonly size?: number;
  readonly annotations?: DatedAnnotations;
  readonly icons?: readonly Icon[];
  readonly meta?: Meta;
  /** How long a client may keep what it read, and whether it may share it. Default: as the server says. */
  readonly cache?: { readonly ttlMs: number; readonly scope?: CacheScope };
  /** Who may see, read and watch it. Asked on every use. */
  readonly visible?: (ctx: Context<Lifespan>) => boolean | undefined | Promise<boolean | undefined>;
  /** For templates: suggestions for a variable. */
  readonly complete?: { readonly [V in Variable]?: Completer<Lifespan> };
  /** For templates: the resources to show in resources/list. */
  readonly list?: (ctx: Context<Lifespan>) => readonly Resource[] | Promise<readonly Resource[]>;
}

export interface ResourceEntry extends Entry {
  /** The URI or the template. */
  readonly source: string;
  readonly template: UriTemplate | undefined;
  readonly definition: Resource | ResourceTemplate;
  readonly mimeType: string | undefined;
  readonly cache: JsonObject | undefined;
  readonly complete: { readonly [variable: string]: Completer<never> | undefined };
  readonly list: ((ctx: Context<never>) => readonly Resource[] | Promise<readonly Resource[]>) | undefined;
  readonly handler: (args: never, ctx: never) => unknown;
}

export function defineResource(
  source: string,
  options: ResourceOptions<string, never>,
  handler: (args: never, ctx: never) => unknown,
): ResourceEntry {
  if (typeof handler !== "function") throw new TypeError(`resource "${source}" needs a handler as its last argument`);
  const template = isUriTemplate(source) ? parseUriTemplate(source) : undefined;
  assertScheme(source);
  if (!template && (options.list || options.complete)) {
    throw new TypeError(
      `resource "${source}": "list" and "complete" are for templates, and this URI has no {variable}`,
    );
  }
  if (template && options.size !== undefined)
    throw new TypeError(`resource "${source}": "size" is for single resources, not for templates`);
  if (options.size !== undefined && !(Number.isInteger(options.size) && options.size >= 0)) {
    throw new TypeError(`resource "${source}": "size" is a whole number of bytes, not ${options.size}`);
  }
  if (options.complete) assertCompleters(`resource "${source}"`, options.complete, template?.variables ?? []);
  const { name = source, title, description, mimeType, size, icons, meta, cache } = options;
  const annotations = options.annotations && withIsoDate(options.annotations);
  const shared = {
    name,
    ...(title === undefined ? undefined : { title }),
    ...(description === undefined ? undefined : { description }),
    ...(mimeType === undefined ? undefined : { mimeType }),
    ...(size === undefined ? undefined : { size }),
    ...(annotations && { annotations }),
    ...(icons && { icons }),
    ...(meta && { _meta: meta }),
  };
  if (cache && !(Number.isInteger(cache.ttlMs) && cache.ttlMs >= 0)) {
    throw new TypeError(
      `resource "${source}": cache.ttlMs is a whole number of milliseconds, 0 or more, not ${cache.ttlMs}`,
    );
  }
  return {
    source,
    template,
    definition: template ? { uriTemplate: source, ...shared } : { uri: source, ...shared },
    mimeType,
    cache: cache && { ttlMs: cache.ttlMs, cacheScope: cache.scope ?? "private" },
    complete: (options.complete ?? {}) as ResourceEntry["complete"],
    list: options.list as ResourceEntry["list"],
    handler,
    visible: options.visible as Visible | undefined,
  };
}

export interface Found {
  readonly entry: ResourceEntry;
  readonly variables: { readonly [name: string]: string | string[] };
}

/** The entry a URI belongs to, for a caller who may see it. A resource of that very URI goes before templates. */
export async function findResource(
  registry: Registry<ResourceEntry>,
  uri: string,
  ctx: Context<never>,
): Promise<Found> {
  assertReadable(uri);
  const exact = registry.get(uri);
  if (exact && !exact.template && (await isVisible(exact, ctx))) return { entry: exact, variables: {} };
  for (const { entry } of registry.list()) {
    const variables = entry.template?.match(uri);
    if (variables && (await isVisible(entry, ctx))) return { entry, variables };
  }
  throw resourceNotFound(uri);
}

export async function readResource(
  { entry, variables }: Found,
  uri: string,
  ctx: Context<never>,
): Promise<ReadResourceResult & JsonObject> {
  const returned = await entry.handler(variables as never, ctx as never);
  const contents = toContents(returned, uri, entry.mimeType);
  if (contents.length === 0) throw resourceNotFound(uri);
  return { contents, ...entry.cache };
}

export function resourceNotFound(uri: string): McpError {
  return new McpError("resource_not_found", `Resource not found: ${quote(uri)}`, { data: { uri } });
}

function toContents(value: unknown, uri: string, mimeType: string | undefined): ResourceContents[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [{ uri, mimeType: mimeType ?? "text/plain", text: value }];
  // Bytes are never guessed to be text: what is no valid UTF-8 would be damaged.
  if (value instanceof Uint8Array)
    return [{ uri, mimeType: mimeType ?? "application/octet-stream", blob: encodeBase64(value) }];
  if (isObject(value) && Array.isArray(value.contents) && value.contents.every(isContents)) return value.contents;
  return [{ uri, mimeType: mimeType ?? "application/json", text: JSON.stringify(value) }];
}

function isContents(value: unknown): value is ResourceContents {
  return (
    isObject(value) &&
    typeof value.uri === "string" &&
    (typeof value.text === "string" || typeof value.blob === "string")
  );
}

function withIsoDate(annotations: DatedAnnotations): Annotations {
  const { lastModified, ...rest } = annotations;
  if (lastModified === undefined) return rest;
  return { ...rest, lastModified: lastModified instanceof Date ? lastModified.toISOString() : lastModified };
}

/** RFC 3986: a scheme is a letter, then letters, digits, plus, minus and dot; a URI has no spaces or control characters. */
function assertScheme(source: string): void {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-[\]_a-~\u00a0-\uffff]*$/.test(source)) {
    throw new TypeError(
      `resource ${quote(source)}: a resource needs an absolute URI such as note:///{id} or https://example.com/a`,
    );
  }
}

/** Refuses what climbs out of a path, plain or encoded, before any handler turns it into a file name. */
function assertReadable(uri: string): void {
  let plain: string;
  try {
    plain = decodeURIComponent(uri);
  } catch {
    throw new McpError("invalid_params", "Invalid params: the URI has malformed percent-encoding", { data: { uri } });
  }
  const path = plain.split(/[?#]/, 1)[0] as string;
  if (path.includes("\0") || path.split(/[/\\]/).includes("..")) {
    throw new McpError("invalid_params", 'Invalid params: the URI must not contain ".." segments or NUL', {
      data: { uri },
    });
  }
}
