// The asks a handler makes of its client, as calls on the era's link: what they take, and what comes back.
// Loaded by the first ask. Specification: client/elicitation, client/sampling, client/roots.
import { isObject, type JsonObject } from "../jsonrpc/message.ts";
import type { Call } from "../protocol/endpoint.ts";
import { McpError } from "../protocol/errors.ts";
import type { ElicitResult, Root, SampleRequest, SampleResult } from "../protocol/model.ts";
import { toAsk } from "../protocol/question.ts";
import { type AnySchema, formatIssues, type Schema, toSchema } from "../schema/standard.ts";
import { quote } from "../util/quote.ts";

export { runRounds } from "../protocol/rounds.ts";

// A form's fields know these keywords and no others; what a schema library adds beyond them is left out.
const fieldKeywords: ReadonlySet<string> = new Set(
  "type title description default format minLength maxLength minimum maximum enum enumNames oneOf anyOf items minItems maxItems".split(
    " ",
  ),
);

const forms = new WeakMap<object, Schema>();

export async function elicitForm(call: Call, message: string, schema: AnySchema): Promise<ElicitResult<unknown>> {
  const form = forms.get(schema) ?? toSchema(schema, { kind: "elicitation", name: call.method, role: "input" });
  forms.set(schema, form);
  const params = { mode: "form", message, requestedSchema: toForm(form.json) };
  const answer = await call.link.ask(toAsk("elicitation/create", params));
  // What comes with a refusal is not to be looked at.
  if (answer.action !== "accept") return { action: answer.action as "decline" | "cancel" };
  const checked = await form.validate(answer.content ?? {});
  if ("issues" in checked) {
    throw new McpError("invalid_result", `The client's answer is not valid: ${formatIssues(checked.issues)}`);
  }
  return { action: "accept", content: checked.value };
}

export async function elicitUrl(
  call: Call,
  message: string,
  url: string,
  id: string | undefined,
): Promise<{ action: "accept" | "decline" | "cancel" }> {
  const page = { mode: "url", message, url, ...(id !== undefined && { elicitationId: id }) };
  const answer = await call.link.ask(toAsk("elicitation/create", page));
  return { action: answer.action as "accept" | "decline" | "cancel" };
}

export async function sample(call: Call, request: SampleRequest): Promise<SampleResult> {
  const answer = await call.link.ask(toAsk("sampling/createMessage", { ...request }));
  return answer as unknown as SampleResult;
}

export async function listRoots(call: Call): Promise<readonly Root[]> {
  const answer = await call.link.ask(toAsk("roots/list", {}));
  const roots = answer.roots as readonly Root[];
  const stray = roots.find(({ uri }) => !/^file:/i.test(uri));
  if (stray) throw new McpError("invalid_result", `The client's roots are not all file:// URIs: ${quote(stray.uri)}`);
  return roots;
}

function toForm(json: JsonObject): JsonObject {
  const fields = Object.entries(isObject(json.properties) ? json.properties : {}).map(([name, field]) => {
    const kept = isObject(field) ? Object.entries(field).filter(([keyword]) => fieldKeywords.has(keyword)) : [];
    return [name, Object.fromEntries(kept)];
  });
  return { type: "object", properties: Object.fromEntries(fields), required: json.required };
}
