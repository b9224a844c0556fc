// What is said of a tool that the server does not have.
import { nearestTo } from "plenum/util/nearest";
import { Failure } from "./failure.ts";

const maxNames = 20;

/** @param names those that it has */
export function toUnknownTool(name: string, names: readonly string[], cause?: unknown): Failure {
  const near = nearestTo(name, names);
  const hint = near ? `Did you mean "${near}"?` : `Its tools are ${names.slice(0, maxNames).join(", ") || "none"}.`;
  return new Failure("protocol", `The server has no tool "${name}"`, { code: "unknown_tool", hint, cause });
}
