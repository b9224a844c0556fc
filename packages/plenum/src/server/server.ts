// The server: a core with tools, resources and prompts.

import type { CompletionRef } from "../protocol/model.ts";
import { complete } from "./completion.ts";
import { createCore, type ServerBase, type ServerOptions } from "./core.ts";
import { offerPrompts, type PromptMethods } from "./prompt.ts";
import { offerResources, type ResourceMethods } from "./resource.ts";
import { offerTools, type ToolMethods } from "./tool.ts";

export interface Server<L = undefined> extends ServerBase<L>, ToolMethods<L>, ResourceMethods<L>, PromptMethods<L> {}

/** Makes a server. Serve it with a transport: see `plenum/memory`. */
export function createServer<L = undefined>(options: ServerOptions<L>): Server<L> {
  const core = createCore<L>(options);
  const tools: ToolMethods<L> = offerTools(core);
  const { find: findPrompt, ...prompts } = offerPrompts(core);
  const { find: findTemplate, ...resources } = offerResources(core);
  core.offer({
    inUse: () => [],
    methods: {
      "completion/complete": (params, ctx) => {
        const ref = params.ref as CompletionRef;
        return complete(ref.type === "ref/prompt" ? findPrompt(ref.name) : findTemplate(ref.uri), params, ctx);
      },
    },
  });
  return { ...core.server, ...tools, ...resources, ...prompts };
}
