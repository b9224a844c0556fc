// Resources and templates: what is registered, which entry a URI belongs to, and how what a handler returns becomes
// contents. Specification: server/resources.
import { isObject } from "../jsonrpc/message.ts";
import type { CacheHints, Result } from "../protocol/endpoint.ts";
import { assertOpen, McpError } from "../protocol/errors.ts";
import type {
  Annotations,
  Icon,
  Meta,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
} from "../protocol/model.ts";
import { encodeBase64 } from "../util/base64.ts";
import { quote } from "../util/quote.ts";
import {
  isUriTemplate,
  parseUriTemplate,
  type TemplateVariables,
  toCanonicalUri,
  type UriTemplate,
} from "../util/uri-template.ts";
import { assertCompleters, type Completable, type Completer, hasCompleters } from "./completion.ts";
import type { CallContext, Context } from "./context.ts";
import { type CacheOptions, type Core, toCacheHints } from "./core.ts";
import { assertFunction, toDefinition } from "./definition.ts";
import { isInputRequired } from "./input.ts";
import { listPages } from "./lists.ts";
import { isVisible, type Registration, Registry, type Visible } from "./registry.ts";

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
  readonly cache?: CacheOptions;
  /** Who may see, read and watch it. Asked on every use. */
  readonly visible?: (ctx: Context<Lifespan>) => boolean | undefined | Promise<boolean | undefined>;
  /** For templates: suggestions for a variable. */
  readonly complete?: { readonly [V in Variable]?: Completer<Lifespan> };
  /** For templates: the resources to show in resources/list. */
  readonly list?: (ctx: Context<Lifespan>) => readonly Resource[] | Promise<readonly Resource[]>;
}

export interface ResourceEntry extends Completable {
  /** The URI or the template. */
  readonly source: string;
  readonly template: UriTemplate | undefined;
  readonly definition: Resource | ResourceTemplate;
  readonly mimeType: string | undefined;
  readonly cache: Partial<CacheHints> | undefined;
  readonly list: ((ctx: Context<never>) => readonly Resource[] | Promise<readonly Resource[]>) | undefined;
  readonly handler: (args: never, ctx: never) => unknown;
}

function defineResource(
  source: string,
  options: ResourceOptions<string, never>,
  handler: (args: never, ctx: never) => unknown,
): ResourceEntry {
  assertFunction(handler, `resource "${source}"`);
  const { name = source, title, description, mimeType, size, annotations, icons, meta, ...others } = options;
  const { cache, list, complete, ...rest } = others;
  const what = `resource "${source}"`;
  const template = isUriTemplate(source) ? parseUriTemplate(source) : undefined;
  assertScheme(source);
  const problem = template ? undefined : checkReadable(source);
  if (problem) throw new TypeError(`resource ${quote(source)}: ${problem}`);
  if (!template && (list || complete)) throw new TypeError(`${what}: "list" and "complete" are for templates`);
  if (template && size !== undefined) throw new TypeError(`${what}: "size" is not for templates`);
  if (size !== undefined && !(Number.isInteger(size) && size >= 0))
    throw new TypeError(`${what}: "size" is a whole number of bytes, not ${size}`);
  const names = template?.variables ?? [];
  if (complete) assertCompleters(what, complete, names);
  // Members that are undefined are absent on the wire.
  const published = {
    [template ? "uriTemplate" : "uri"]: source,
    name,
    title,
    description,
    mimeType,
    size,
    annotations: annotations && withIsoDate(annotations),
    icons,
    _meta: meta,
  };
  return {
    source,
    template,
    definition: toDefinition(
      what,
      template ? "ResourceTemplate" : "Resource",
      published,
      rest,
      "name, mimeType, size, annotations, cache, list, complete, ",
    ),
    mimeType,
    cache: cache ? toCacheHints(cache, what) : unshared(rest),
    complete: (complete ?? {}) as ResourceEntry["complete"],
    names,
    list: list as ResourceEntry["list"],
    handler,
    visible: rest.visible as Visible | undefined,
  };
}

/** What not everybody may see is for no shared cache, whatever the server says of its results in general. */
function unshared({ visible }: { readonly visible?: unknown }): Partial<CacheHints> | undefined {
  return visible ? { cacheScope: "private" } : undefined;
}

export interface ResourceMethods<L> {
  /** Registers a resource, or with `{variables}` in the URI a template of resources. */
  resource<const T extends string>(
    uri: T,
    options: ResourceOptions<keyof TemplateVariables<T> & string, L>,
    handler: (args: TemplateVariables<T>, ctx: Context<L>) => unknown,
  ): Registration;
  /** Tells those who watch the resource that it changed. */
  resourceUpdated(uri: string): void;
  /** Tells those who watch the list of resources that it changed, where a template's `list` gives something new. */
  resourcesChanged(): void;
}

/** `find` is for completion: the template of that very text. */
export function offerResources<L>(core: Core<L>): ResourceMethods<L> & { find(uri: string): Completable | undefined } {
  const registry = new Registry<ResourceEntry>("resource", () => core.changed("resources"));

  /** A template may list a resource twice, or one that is registered by itself: it is listed once, or hidden. */
  const listed = async (entry: ResourceEntry, ctx: Context<never>): Promise<readonly object[]> => {
    if (!entry.template) return [entry.definition];
    const seen = new Set<string>();
    const resources = (await entry.list?.(ctx)) ?? [];
    return resources.filter(({ uri }) => !registry.has(toCanonicalUri(uri)) && seen.size < seen.add(uri).size);
  };

  core.offer({
    inUse: () => [
      registry.used && "resources.subscribe",
      registry.list().some(({ entry }) => hasCompleters(entry)) && "completions",
    ],
    methods: {
      "resources/list": listPages({
        ...core.pages,
        member: "resources",
        registry,
        items: listed,
        isDynamic: (entry) => entry.list !== undefined,
      }),
      "resources/templates/list": listPages({
        ...core.pages,
        member: "resourceTemplates",
        registry,
        items: (entry) => (entry.template ? [entry.definition] : []),
      }),
      "resources/read": async ({ uri }, ctx) =>
        readResource(await findResource(registry, uri as string, ctx), uri as string, ctx),
      async "resources/subscribe"({ uri }, ctx) {
        // Only what the caller could read can be watched.
        await findResource(registry, uri as string, ctx);
        return {};
      },
      "resources/unsubscribe"({ uri }) {
        // It may be gone by now: only its form is looked at.
        assertReadable(uri as string);
        return {};
      },
      async "subscriptions/listen"({ notifications }, ctx) {
        const { resourceSubscriptions } = notifications as { readonly resourceSubscriptions?: readonly string[] };
        if (!resourceSubscriptions) return {};
        const uris: string[] = [];
        let since = performance.now();
        for (const uri of resourceSubscriptions) {
          // Many long ones take a while, in which others have their turn.
          if (performance.now() - since > 10) {
            await new Promise((resolve) => setTimeout(resolve));
            since = performance.now();
          }
          if (ctx.ended) break;
          try {
            await findResource(registry, uri, ctx);
            uris.push(uri);
          } catch (error) {
            if (!(error instanceof McpError)) throw error;
          }
        }
        return { resourceSubscriptions: uris };
      },
    },
  });
  return {
    resource(uri, options, handler) {
      const entry = defineResource(uri, options as never, handler as never);
      // A template has braces, which no URI in its canonical spelling has.
      return registry.add(entry.template ? uri : toCanonicalUri(uri), entry);
    },
    resourceUpdated: (uri) => core.watchers.tell({ kind: "resource", uri }),
    resourcesChanged: () => core.watchers.tell({ kind: "resources" }),
    find: (uri) => registry.get(uri),
  };
}

interface Found {
  readonly entry: ResourceEntry;
  readonly variables: { readonly [name: string]: string | string[] };
}

/** The entry a URI belongs to, for a caller who may see it. A resource of that very URI goes before templates. */
async function findResource(registry: Registry<ResourceEntry>, uri: string, ctx: Context<never>): Promise<Found> {
  assertReadable(uri);
  const key = toCanonicalUri(uri);
  if (registry.has(key)) {
    const entry = registry.get(key);
    // What is disabled, or not for this caller, is not there: no template may answer in its place.
    if (!entry || !(await isVisible(entry, ctx))) throw resourceNotFound(uri);
    return { entry, variables: {} };
  }
  for (const { entry } of registry.list()) {
    const variables = entry.template?.match(uri);
    if (!variables || !(await isVisible(entry, ctx))) continue;
    // Behind a literal (`x-{path}`) or a question mark a value can climb although no segment of the URI's path does.
    for (const [name, value] of Object.entries(variables))
      if (!entry.template?.queries.includes(name) && [value].flat().some(climbs)) throw unreadable(uri, climbing);
    return { entry, variables };
  }
  throw resourceNotFound(uri);
}

async function readResource({ entry, variables }: Found, uri: string, ctx: CallContext): Promise<Result> {
  assertOpen(ctx);
  const returned = await entry.handler(variables as never, ctx as never);
  if (isInputRequired(returned)) return returned;
  const contents = toContents(returned, uri, entry.mimeType);
  if (contents.length === 0) throw resourceNotFound(uri);
  return { contents, ...entry.cache, ...(isWhole(returned) && { _meta: returned._meta }) };
}

function resourceNotFound(uri: string): McpError {
  return new McpError("resource_not_found", `Resource not found: ${quote(uri)}`, { data: { uri } });
}

function toContents(value: unknown, uri: string, mimeType: string | undefined): ResourceContents[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [{ uri, mimeType: mimeType ?? "text/plain", text: value }];
  // Bytes are never guessed to be text: what is no valid UTF-8 would be damaged.
  if (value instanceof Uint8Array)
    return [{ uri, mimeType: mimeType ?? "application/octet-stream", blob: encodeBase64(value) }];
  if (isWhole(value)) {
    if (value.contents.every(isContents)) return [...value.contents];
    throw new TypeError("each of a resource's contents has a uri and either text or blob, both strings");
  }
  return [{ uri, mimeType: mimeType ?? "application/json", text: JSON.stringify(value) }];
}

/** Contents in full. Other objects that happen to have a member of that name are data like any other. */
function isWhole(value: unknown): value is ReadResourceResult {
  return (
    isObject(value) &&
    Array.isArray(value.contents) &&
    value.contents.every((item) => isObject(item) && typeof item.uri === "string")
  );
}

function isContents({ text, blob }: { readonly text?: unknown; readonly blob?: unknown }): boolean {
  return text === undefined ? typeof blob === "string" : typeof text === "string" && blob === undefined;
}

function withIsoDate(annotations: DatedAnnotations): Annotations {
  const { lastModified } = annotations;
  return {
    ...annotations,
    lastModified: lastModified instanceof Date ? lastModified.toISOString() : lastModified,
  } as Annotations;
}

/** RFC 3986: a scheme is a letter, then letters, digits, plus, minus and dot; a URI has no spaces or control characters. */
function assertScheme(source: string): void {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-[\]_a-~\u00a0-\uffff]*$/.test(source)) {
    throw new TypeError(
      `resource ${quote(source)}: a resource needs an absolute URI such as note:///{id} or https://example.com/a`,
    );
  }
}

// Templates match no longer ones. What is watched is kept, so it must be bounded.
const maxUriLength = 8192;

const climbing = 'the URI must not contain ".." segments';

/** Refuses what could do harm, plain or encoded, before any handler turns it into a file name. */
function assertReadable(uri: string): void {
  const problem = checkReadable(uri);
  if (problem) throw unreadable(uri, problem);
}

function checkReadable(uri: string): string | undefined {
  if (uri.length > maxUriLength) return `the URI is longer than ${maxUriLength} characters`;
  try {
    if (decodeURIComponent(uri).includes("\0")) return "the URI must not contain NUL";
  } catch {
    return "the URI has malformed percent-encoding";
  }
  return climbs(pathOf(uri)) ? climbing : undefined;
}

/** What stands before query and fragment, decoded. Cut first: an encoded question mark belongs to the path. */
function pathOf(uri: string): string {
  return decodeURIComponent(uri.split(/[?#]/, 1)[0] as string);
}

/** Whether a segment goes up. A colon ends one too: `note:..` has no slash. */
function climbs(path: string): boolean {
  return path.split(/[/\\:]/).includes("..");
}

function unreadable(uri: string, problem: string): McpError {
  return new McpError("invalid_params", `Invalid params: ${problem}`, { data: { uri: uri.slice(0, maxUriLength) } });
}
