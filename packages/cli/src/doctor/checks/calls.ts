// Calls of tools, for who asks for them with --call: only of those that say that they change nothing and need no argument.
import type { JsonObject } from "plenum";
import { compileJsonSchema, type Validator } from "plenum/schema";
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Visit } from "../visit.ts";
import { isObject, toObject } from "../visit.ts";
import { whereOf } from "./tools.ts";

const maxCalls = 10;

function isHarmless({ annotations, inputSchema }: JsonObject): boolean {
  const { required } = toObject(inputSchema);
  const needsNothing = !Array.isArray(required) || required.length === 0;
  return toObject(annotations).readOnlyHint === true && needsNothing;
}

function compile(schema: JsonObject): Validator | undefined {
  try {
    return compileJsonSchema(schema);
  } catch {
    // Another check tells of it.
    return undefined;
  }
}

async function judgeCall(main: Visit, tool: JsonObject): Promise<Finding[]> {
  const where = whereOf(tool);
  const answer = await main.ask("tools/call", { name: tool.name, arguments: {} });
  if (answer.kind === "none") return [{ message: `A call is not answered: ${answer.why}.`, where }];
  if (answer.kind === "error")
    return [{ message: `A call is error ${answer.code}: ${answer.message}.`, where, severity: "warning" }];
  const { structuredContent, isError } = answer.result;
  if (!isObject(tool.outputSchema) || isError === true) return [];
  if (structuredContent === undefined) {
    if (answer.result.resultType === "input_required") return [];
    return [{ message: "It has an outputSchema, but its result has no structuredContent.", where }];
  }
  const [issue] = compile(tool.outputSchema)?.(structuredContent) ?? [];
  if (!issue) return [];
  return [{ message: `Its result does not match outputSchema: ${issue.message}.`, where }];
}

export const callsChecks: readonly Check[] = [
  {
    id: "calls/results",
    title: "Tools that only read give what they promise",
    looksAt: "with --call: calls of tools that are marked read-only and need no argument",
    appliesTo: "any",
    severity: "error",
    remedy: "Give structuredContent that is valid against outputSchema: clients refuse it otherwise.",
    async run({ main, mayCall }) {
      if (!mayCall) return skip("tools are called with --call only");
      if (!main.declares("tools")) return skip("it has no tools");
      const tools = (await main.list("tools")).items.filter(isHarmless).slice(0, maxCalls);
      if (tools.length === 0) return skip("no tool is marked read-only and needs no argument");
      const findings: Finding[] = [];
      for (const tool of tools) findings.push(...(await judgeCall(main, tool)));
      return found(findings, `called ${tools.map(({ name }) => String(name)).join(", ")}`);
    },
  },
];
