// What handlers and callers see: the superset of all revisions, as types (and the guards that go with them). What a given peer may be sent of it
// is decided by `wire/` and the eras' codecs, never here.
import { isObject, type Json, type JsonObject } from "../jsonrpc/message.ts";

export type Meta = { readonly [key: string]: unknown };

export type Role = "user" | "assistant";

export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** RFC 5424 order, least severe first. */
export const logLevels: readonly LogLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

export interface Icon {
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: readonly string[];
  readonly theme?: "light" | "dark";
}

/** Who a server or client says it is. For display only: it is never a ground for a decision. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

export interface Annotations {
  readonly audience?: readonly Role[];
  /** 0 (optional) to 1 (required). */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

export interface TextContent {
  readonly type: "text";
  readonly text: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface ImageContent {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface AudioContent {
  readonly type: "audio";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface ResourceLink extends Resource {
  readonly type: "resource_link";
}

export interface EmbeddedResource {
  readonly type: "resource";
  readonly resource: ResourceContents;
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

// The members that each kind of content cannot lack, all of them texts.
const contentKinds: { readonly [type: string]: readonly string[] } = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
  resource: ["uri"],
};

/** Whether a value is content rather than some other object: by its kind and the members that kind cannot lack. */
export function isContent(value: unknown): value is Content {
  if (!isObject(value) || typeof value.type !== "string" || !Object.hasOwn(contentKinds, value.type)) return false;
  const at = value.type === "resource" ? value.resource : value;
  if (!isObject(at)) return false;
  for (const key of contentKinds[value.type] as readonly string[]) if (typeof at[key] !== "string") return false;
  return true;
}

export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Raw size in bytes, before any encoding. */
  readonly size?: number;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly icons?: readonly Icon[];
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface TextResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text: string;
  readonly _meta?: Meta;
}

export interface BlobResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  /** Base64. */
  readonly blob: string;
  readonly _meta?: Meta;
}

export type ResourceContents = TextResourceContents | BlobResourceContents;

/** Hints about a tool. They come from the server and are not to be trusted unless the server is. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: { readonly [key: string]: unknown };
  readonly outputSchema?: { readonly [key: string]: unknown };
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

export interface PromptMessage {
  readonly role: Role;
  readonly content: Content;
}

export interface CallToolResult {
  readonly content: readonly Content[];
  /** Any JSON value; older revisions carry objects only, or none. */
  readonly structuredContent?: Json;
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

export interface ReadResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: Meta;
}

export interface GetPromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: Meta;
}

export interface Completion {
  /** At most 100. */
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

export type CompletionRef =
  | { readonly type: "ref/prompt"; readonly name: string; readonly title?: string }
  | { readonly type: "ref/resource"; readonly uri: string };

export interface ClientCapabilities {
  readonly experimental?: { readonly [name: string]: JsonObject };
  readonly roots?: { readonly listChanged?: boolean };
  readonly sampling?: { readonly context?: JsonObject; readonly tools?: JsonObject };
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject };
  readonly extensions?: { readonly [id: string]: JsonObject };
  readonly [other: string]: unknown;
}

export interface ServerCapabilities {
  readonly experimental?: { readonly [name: string]: JsonObject };
  readonly logging?: JsonObject;
  readonly completions?: JsonObject;
  readonly prompts?: { readonly listChanged?: boolean };
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean };
  readonly tools?: { readonly listChanged?: boolean };
  readonly extensions?: { readonly [id: string]: JsonObject };
  readonly [other: string]: unknown;
}

export type CacheScope = "public" | "private";

export interface SamplingMessage {
  readonly role: Role;
  readonly content: unknown;
  readonly _meta?: Meta;
}

export interface SampleRequest {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  /** @deprecated The protocol deprecates anything but "none" from 2025-11-25 on. */
  readonly includeContext?: "none" | "thisServer" | "allServers";
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly metadata?: JsonObject;
  readonly modelPreferences?: JsonObject;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: { readonly mode?: "auto" | "required" | "none" };
}

export interface SampleResult {
  readonly role: Role;
  readonly content: unknown;
  readonly model: string;
  readonly stopReason?: string;
}

export type ElicitResult<Content = JsonObject> =
  | { readonly action: "accept"; readonly content: Content }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

export interface Root {
  readonly uri: string;
  readonly name?: string;
  readonly _meta?: Meta;
}
