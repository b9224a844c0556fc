// Resources and templates: their addresses, types, and whether they can be read.
import type { JsonObject } from "plenum";
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Ground } from "../ground.ts";
import { describeAnswer, isObject } from "../visit.ts";

const maxRead = 5;

function overResources(
  look: (items: readonly JsonObject[], ground: Ground) => Finding[] | Promise<Finding[]>,
): Check["run"] {
  return async (ground) => {
    if (!ground.main.declares("resources")) return skip("it has no resources");
    const { items } = await ground.main.list("resources");
    return items.length === 0 ? skip("it lists no resources") : found(await look(items, ground));
  };
}

// RFC 6838: type/subtype, with parameters.
const mimeType = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9*][A-Za-z0-9!#$&^_.+*-]{0,126}(\s*;.*)?$/;

function whereOf({ uri }: JsonObject): string {
  return `resource ${String(uri).slice(0, 100)}`;
}

async function judgeRead(items: readonly JsonObject[], { main }: Ground): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const item of items.slice(0, maxRead)) {
    const where = whereOf(item);
    const answer = await main.ask("resources/read", { uri: item.uri });
    if (answer.kind !== "result") {
      findings.push({ message: `It is listed, but reading it gives ${describeAnswer(answer)}.`, where });
      continue;
    }
    const { contents } = answer.result;
    if (!Array.isArray(contents)) continue;
    if (contents.length === 0) findings.push({ message: "Reading it gives nothing.", where, severity: "warning" });
    for (const one of contents.filter(isObject)) {
      if (typeof item.mimeType === "string" && typeof one.mimeType === "string" && one.mimeType !== item.mimeType) {
        const message = `It is listed as ${item.mimeType}, and read as ${one.mimeType}.`;
        findings.push({ message, where, severity: "note", remedy: "Name the same type in both." });
      }
    }
  }
  return findings;
}

// RFC 6570: an operator, then variables, each perhaps cut or exploded.
const expression =
  /^[+#./;?&]?[A-Za-z0-9_%]+(\.[A-Za-z0-9_%]+)*(\*|:[1-9]\d{0,3})?(,[A-Za-z0-9_%]+(\.[A-Za-z0-9_%]+)*(\*|:[1-9]\d{0,3})?)*$/;

function findTemplateFault(template: unknown): string | undefined {
  if (typeof template !== "string") return "it has no uriTemplate";
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:|^\{/.test(template)) return "it has no scheme";
  if (/[{}]/.test(template.replace(/\{[^{}]*\}/g, ""))) return "a brace has no partner";
  const bad = [...template.matchAll(/\{([^{}]*)\}/g)].find(([, inner = ""]) => !expression.test(inner));
  return bad && `${bad[0]} is no expression`;
}

const usual = { appliesTo: "any", severity: "error" } as const;

export const resourcesChecks: readonly Check[] = [
  {
    ...usual,
    id: "resources/uris",
    title: "URIs of resources are absolute and unique",
    looksAt: "uri of every listed resource",
    remedy: "Give each a URI with a scheme, such as file:///… or notes://today, and each another.",
    run: overResources((items) => {
      const uris = items.map(({ uri }) => String(uri));
      const wrong = items.filter(({ uri }) => typeof uri !== "string" || !URL.canParse(uri));
      const twice = [...new Set(uris.filter((uri, at) => uris.indexOf(uri) !== at))];
      return [
        ...wrong.map((item) => ({ message: "It is no absolute URI.", where: whereOf(item) })),
        ...twice.map((uri) => ({
          message: "It is listed more than once.",
          where: `resource ${uri}`,
          severity: "warning" as const,
        })),
      ];
    }),
  },
  {
    ...usual,
    id: "resources/mime-types",
    title: "Types of resources are MIME types",
    looksAt: "mimeType of every listed resource",
    severity: "warning",
    remedy: "Write it as type/subtype, such as text/markdown.",
    run: overResources((items) =>
      items.flatMap((item): Finding[] => {
        if (item.mimeType === undefined || (typeof item.mimeType === "string" && mimeType.test(item.mimeType)))
          return [];
        return [{ message: `${JSON.stringify(item.mimeType)} is no MIME type.`, where: whereOf(item) }];
      }),
    ),
  },
  {
    ...usual,
    id: "resources/readable",
    title: "Listed resources can be read",
    looksAt: `the first ${maxRead} listed resources`,
    remedy: "List only what can be read, and answer with its contents.",
    run: overResources(judgeRead),
  },
  {
    ...usual,
    id: "resources/templates",
    title: "Templates are URI templates",
    looksAt: "uriTemplate of every template",
    remedy: "Write it as RFC 6570 has it, such as notes://{day}.",
    async run({ main }) {
      if (!main.declares("resources")) return skip("it has no resources");
      const { items } = await main.list("resourceTemplates");
      if (items.length === 0) return skip("it lists no templates");
      return found(
        items.flatMap((item): Finding[] => {
          const fault = findTemplateFault(item.uriTemplate);
          return fault
            ? [{ message: `The template cannot be read: ${fault}.`, where: `template ${String(item.uriTemplate)}` }]
            : [];
        }),
      );
    },
  },
];
