// Every object shape of every revision against the official definition of the same thing: the same members, the same
// ones required.
import { describe, expect, it } from "vitest";
import { type Revision, revisions } from "../../packages/plenum/src/protocol/revisions.ts";
import { addAsking } from "../../packages/plenum/src/protocol/wire/asking.ts";
import { sheetOf } from "../../packages/plenum/src/protocol/wire/wire.ts";
import { itemsOf, namesOf } from "./arbitrary.ts";
import { type Definition, definitionsOf, isOfficialHere, resolve } from "./official.ts";

addAsking();

if (!isOfficialHere) console.log("skipped: the official schemas are not in ../shared/spec/schema");

/** Shapes that the official schemas have under another name or inside another definition, as paths of members. */
const elsewhere: { readonly [name: string]: readonly string[] } = {
  RequestMeta: ["RequestMetaObject", "RequestParams._meta", "Request.params._meta"],
  NotificationMeta: ["NotificationMetaObject", "NotificationParams._meta", "Notification.params._meta"],
  ResultMeta: ["ResultMetaObject", "Result._meta"],
  ListenResultMeta: ["SubscriptionsListenResultMetaObject"],
  PageParams: ["PaginatedRequestParams", "PaginatedRequest.params"],
  RequestParams: ["RequestParams", "Request.params"],
  NotificationParams: ["NotificationParams", "Notification.params"],
  annotations: ["Annotations", "Annotated.annotations"],
  roots: ["ClientCapabilities.roots"],
  sampling: ["ClientCapabilities.sampling"],
  elicitation: ["ClientCapabilities.elicitation"],
  prompts: ["ServerCapabilities.prompts"],
  resources: ["ServerCapabilities.resources"],
  tools: ["ServerCapabilities.tools"],
  hint: ["ModelHint"],
  Info: ["Implementation"],
  InputRequired: ["InputRequiredResult"],
  ResourceContent: ["EmbeddedResource"],
  Elicit: ["ElicitRequest"],
  CreateMessage: ["CreateMessageRequest"],
  ListRoots: ["ListRootsRequest"],
  modelPreferences: ["ModelPreferences"],
  toolChoice: ["ToolChoice"],
  execution: ["ToolExecution"],
  task: ["TaskMetadata"],
  notifications: ["SubscriptionFilter"],
  ObjectSchema: ["Tool.inputSchema"],
  InputSchema: ["Tool.inputSchema"],
  OutputSchema: ["Tool.outputSchema"],
  ResourceTemplateReference: ["ResourceTemplateReference", "ResourceReference"],
  argument: ["CompleteRequestParams.argument", "CompleteRequest.params.argument"],
  context: ["CompleteRequestParams.context", "CompleteRequest.params.context"],
  completion: ["CompleteResult.completion"],
  Enum: ["LegacyTitledEnumSchema", "EnumSchema"],
  MultiEnum: ["TitledMultiSelectEnumSchema"],
  TitledEnum: ["TitledSingleSelectEnumSchema"],
  TitledChoice: ["TitledSingleSelectEnumSchema.oneOf"],
  TitledItems: ["TitledMultiSelectEnumSchema.items"],
  UntitledItems: ["UntitledMultiSelectEnumSchema.items"],
  requestedSchema: ["ElicitRequestFormParams.requestedSchema", "ElicitRequest.params.requestedSchema"],
  ElicitFormParams: ["ElicitRequestFormParams", "ElicitRequest.params"],
  ElicitURLParams: ["ElicitRequestURLParams"],
};

/** Members that several shapes have in common: no shapes of the protocol's, or not in every revision. */
const groups = ["Cached", "Page", "Named", "Listed", "Capabilities", "Content", "Contents"];

/** Members that we name and the official definition does not, by shape and member. */
const additions: readonly { readonly shape: RegExp; readonly key: string; readonly reason: string }[] = [
  {
    shape: /Params$/,
    key: "_meta",
    reason: "before 2025-11-25 it stands on the general Request and Notification; all params may have it",
  },
  {
    shape: /^ObjectSchema$/,
    key: "$schema",
    reason: "a JSON Schema keyword: naming it in every revision keeps it from being taken out of older ones",
  },
];

/** What an official definition of a single value is in our language; undefined for anything larger. */
function toExpression(definition: Definition | undefined): string | undefined {
  const { type, format, minimum, maximum } = definition ?? {};
  const literals = definition?.enum ?? (definition?.const === undefined ? [] : [definition.const]);
  if (literals.length > 0)
    return literals
      .map((text) => `'${text}'`)
      .sort()
      .join("|");
  if (format !== undefined) return { uri: "URI", byte: "base64", "uri-template": "template" }[format] ?? format;
  if (Array.isArray(type)) return type.join() === "string,integer" ? "id" : undefined;
  if (type === "number" && minimum === 0 && maximum === 1) return "unit";
  if (type === "integer" && minimum === 0) return "count";
  return type === "array" || type === "object" ? undefined : type;
}

function find(revision: Revision, name: string): Definition | undefined {
  const stem = name.replace(/Params$/, "");
  const paths = elsewhere[name] ?? [
    name,
    `${stem}RequestParams`,
    `${stem}NotificationParams`,
    `${stem}Request.params`,
    `${stem}Notification.params`,
  ];
  for (const path of paths) {
    const [head = "", ...steps] = path.split(".");
    let at = resolve(revision, definitionsOf(revision)[head]);
    for (const step of steps) at = resolve(revision, at?.properties?.[step]);
    at = resolve(revision, at?.items && !at.properties ? at.items : at);
    if (at) return at;
  }
  return undefined;
}

describe.skipIf(!isOfficialHere)("the members of", () => {
  for (const revision of isOfficialHere ? revisions : []) {
    const { formOf } = sheetOf(revision);
    const names = namesOf(revision).filter((name) => itemsOf(revision, name)[0]?.of === name && !groups.includes(name));
    it.each(names)(`${revision} %s`, (name) => {
      const official = find(revision, name);
      expect(official, "an official definition").toBeDefined();
      const added = additions.filter(({ shape }) => shape.test(name)).map(({ key }) => key);
      const theirs = Object.keys(official?.properties ?? {});
      const ours = formOf(name)[1].filter(([key]) => theirs.includes(key) || !added.includes(key));
      expect(ours.map(([key]) => key).sort()).toEqual(theirs.sort());
      const required = ours.filter(([, , optional]) => !optional).map(([key]) => key);
      expect(required.sort()).toEqual((official?.required ?? []).sort());
      expect(official?.type).toBe("object");
      for (const [key, expression] of ours) {
        const theirs = toExpression(resolve(revision, official?.properties?.[key]));
        // Every other result type is invalid by the specification; the schema says string.
        if (theirs === undefined || key === "resultType") continue;
        const items = itemsOf(revision, expression).map(({ kind, of }) => (kind === "literal" ? `'${of}'` : of));
        expect(items.sort().join("|"), key).toBe(theirs);
      }
    });
  }
});
