// What a server says of its tools, remembered, and results held against it: structured content is checked with the
// tool's output schema. Schemas come from a stranger: compiling and checking are bounded, and nothing is fetched.
// Specification: server/tools § Output Schema.
import type { CallToolResult, Tool } from "../protocol/model.ts";
import { measureJson } from "../util/json-tree.ts";
import { createLru } from "../util/lru.ts";
import type { Known } from "./output-check.ts";

export interface OutputsOptions {
  /** Definitions that are remembered; those not used for longest are forgotten first. Default 1000. */
  readonly maxTools?: number;
  /** All definitions together, in characters of JSON, roughly. Default 16 Mi. */
  readonly maxChars?: number;
  /** Told when definitions are forgotten because there are too many. */
  readonly warn: (problem: string) => void;
}

export interface Outputs {
  /** Rises with each `forget`. Look at it before tools are asked for, and give it to `learn`. */
  readonly generation: number;
  /**
   * Remembers the tools of a page. A definition takes the place of an older one of the same name.
   * @param generation when the page was asked for: if all was forgotten since, the page is too old to be learnt from
   */
  learn(tools: readonly Tool[], generation?: number): void;
  /** The list has changed: nothing is known any more. */
  forget(): void;
  knows(name: string): boolean;
  definition(name: string): Tool | undefined;
  /**
   * What is wrong with a result. Nothing is wrong with that of an unknown tool, of one without output schema, or with
   * one that says that it is an error. A schema that cannot be used is a problem too: it lets nothing pass. The first
   * tool that has a schema waits until schemas can be read; most have none.
   */
  check(name: string, result: CallToolResult): string | undefined | Promise<string | undefined>;
}

let checking: typeof import("./output-check.ts") | undefined;

export function createOutputs(options: OutputsOptions): Outputs {
  const { maxTools = 1000, maxChars = 16 * 1024 * 1024, warn } = options;
  const known = createLru<Known>({ maxEntries: maxTools, maxWeight: maxChars });
  let generation = 0;
  let warned = false;

  return {
    get generation() {
      return generation;
    },
    learn(tools, since = generation) {
      if (since !== generation) return;
      let gone = 0;
      for (const tool of tools) {
        const before = known.get(tool.name);
        // A page that was kept brings the same objects again.
        if (before?.tool === tool) continue;
        const entry: Known = { tool, compiled: undefined, earlier: before?.compiled ?? before?.earlier };
        gone += known.set(tool.name, entry, tool.name.length + measureJson(tool, maxChars));
      }
      if (gone === 0 || warned) return;
      warned = true;
      warn(
        `The server has more tools than are remembered (${maxTools}, or ${maxChars} characters): the results of some are not checked`,
      );
    },
    forget() {
      generation++;
      warned = false;
      known.clear();
    },
    knows: known.has,
    definition: (name) => known.get(name)?.tool,
    check(name, result) {
      const entry = known.get(name);
      if (!entry?.tool.outputSchema || result.isError === true) return undefined;
      if (checking) return checking.checkOutput(entry, result);
      return import("./output-check.ts").then((loaded) => {
        checking = loaded;
        return loaded.checkOutput(entry, result);
      });
    },
  };
}
