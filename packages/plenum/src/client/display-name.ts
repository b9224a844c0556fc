// What people are shown in place of a name that programs use.
import type { ToolAnnotations } from "../protocol/model.ts";

/**
 * The title of a tool, resource, prompt, argument or implementation; without one a tool's annotated title; without either
 * its name. Specification: schema, BaseMetadata.
 */
export function displayNameOf(item: {
  readonly name: string;
  readonly title?: string;
  readonly annotations?: Pick<ToolAnnotations, "title"> | object;
}): string {
  const { title = "" } = (item.annotations ?? {}) as { readonly title?: string };
  return item.title || title || item.name;
}
