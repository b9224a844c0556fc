// The surface of a server: all that a client, and the model behind it, is shown before anything is called. What changes by
// itself (cursors, times to live, sizes, dates, `_meta`) is not part of it.
import type { Client, ClientOptions, Prompt, Resource, ResourceTemplate, Tool } from "plenum";
import { byText } from "./canonical.ts";

type Json = { readonly [key: string]: unknown };

/** Whatever a server sends: members may have types other than the protocol's where a lock was edited by hand. */
export interface Surface {
  /** In which it was taken: older ones lack titles, annotations, output schemas. */
  readonly revision: string;
  readonly server: SurfaceServer;
  readonly capabilities: Json;
  readonly tools: readonly SurfaceTool[];
  readonly resources: readonly SurfaceResource[];
  readonly resourceTemplates: readonly SurfaceTemplate[];
  readonly prompts: readonly SurfacePrompt[];
}

export interface SurfaceServer {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly instructions?: string | undefined;
}

export type SurfaceTool = Omit<Tool, "_meta">;
export type SurfaceResource = Omit<Resource, "_meta" | "size">;
export type SurfaceTemplate = Omit<ResourceTemplate, "_meta">;
export type SurfacePrompt = Omit<Prompt, "_meta">;

/**
 * A client that can do everything, and does nothing: servers show some tools only to clients that can be asked, and a surface must
 * not depend on whether somebody sits at a terminal.
 */
export const ableClient: ClientOptions = {
  onElicit: () => ({ action: "decline" }),
  onElicitUrl: () => ({ action: "decline" }),
  onSample: () => {
    throw new Error("Nothing is sampled while a surface is taken.");
  },
  roots: [],
  cache: false,
};

/** Lists everything that the server says it has. */
export async function takeSurface(client: Client, signal?: AbortSignal): Promise<Surface> {
  const { info, capabilities, instructions } = client.server;
  const given = signal ? { signal } : {};
  const has = (name: string): boolean => Object.hasOwn(capabilities, name) && Boolean(capabilities[name]);
  const tools = has("tools") ? await client.listTools(given).all() : [];
  const resources = has("resources") ? await client.listResources(given).all() : [];
  const templates = has("resources") ? await listOptional(client.listResourceTemplates(given)) : [];
  const prompts = has("prompts") ? await client.listPrompts(given).all() : [];
  const { name, version, title, description, websiteUrl } = info ?? {};
  return {
    revision: client.revision,
    server: { name, version, title, description, websiteUrl, instructions },
    capabilities: toLasting(capabilities),
    tools: sortBy(tools.map(toTool), "name"),
    resources: sortBy(resources.map(toResource), "uri"),
    resourceTemplates: sortBy(templates.map(toTemplate), "uriTemplate"),
    prompts: sortBy(prompts.map(toPrompt), "name"),
  };
}

/** Servers that have resources need not know the method for templates. */
async function listOptional<T>(list: { all(): Promise<T[]> }): Promise<T[]> {
  try {
    return await list.all();
  } catch (error) {
    if ((error as { readonly rpcCode?: unknown }).rpcCode === -32601) return [];
    throw error;
  }
}

/** What is false is not there: servers write it in either way. */
function toLasting(value: Json): Json {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
      if (member === false || member === undefined || member === null) return [];
      const isBranch = typeof member === "object" && !Array.isArray(member);
      return [[key, isBranch ? toLasting(member as Json) : member]];
    }),
  );
}

function sortBy<K extends string, T extends { readonly [key in K]: string }>(items: readonly T[], key: K): T[] {
  return [...items].sort((a, b) => byText(a[key], b[key]));
}

const toTool = (tool: Tool): SurfaceTool => pick(tool, toolMembers);
const toPrompt = (prompt: Prompt): SurfacePrompt => pick(prompt, promptMembers);
const toResource = (one: Resource): SurfaceResource => withoutDates(pick(one, resourceMembers));
const toTemplate = (one: ResourceTemplate): SurfaceTemplate => withoutDates(pick(one, templateMembers));

const toolMembers = [
  ...(["name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons"] as const),
];
const promptMembers = ["name", "title", "description", "arguments", "icons"] as const;
const resourceMembers = ["uri", "name", "title", "description", "mimeType", "annotations", "icons"] as const;
const templateMembers = ["uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons"] as const;

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]]))) as Pick<T, K>;
}

function withoutDates<T extends { readonly annotations?: object }>(item: T): T {
  if (!item.annotations) return item;
  const { lastModified, ...annotations } = item.annotations as { readonly lastModified?: string };
  if (Object.keys(annotations).length > 0) return { ...item, annotations };
  const { annotations: _, ...rest } = item;
  return rest as T;
}
