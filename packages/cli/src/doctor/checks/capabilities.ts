// Whether the server does what it declares, and nothing else; whether its lists end, and stay as they are.
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Ground } from "../ground.ts";
import { capabilityOf, describeAnswer, type ListName, listMethods, listNames, type Visit } from "../visit.ts";
import { countOf } from "../words.ts";

const isOptional: ListName = "resourceTemplates";

async function judgeLists({ main }: Ground) {
  const findings: Finding[] = [];
  const counts: string[] = [];
  for (const name of listNames.filter((one) => main.declares(capabilityOf[one]))) {
    const { items, answer, pages } = await main.list(name);
    const where = listMethods[name];
    if (answer.kind !== "result") {
      const isLacking = answer.kind === "error" && answer.code === -32601;
      const message = `It declares ${capabilityOf[name]}, but ${where} is answered with ${describeAnswer(answer)}.`;
      // Many servers have resources without templates, and have not heard of the list.
      findings.push({ message, where, ...(isLacking && name === isOptional && { severity: "note" }) });
    } else if (!Array.isArray(answer.result[name])) {
      findings.push({ message: `The result of ${where} has no list "${name}".`, where });
    } else {
      counts.push(`${countOf(items.length, words[name])}${pages > 1 ? ` in ${pages} pages` : ""}`);
    }
  }
  return found(findings, counts.join(", ") || "it declares no lists");
}

const words: { readonly [N in ListName]: string } = {
  tools: "tool",
  resources: "resource",
  resourceTemplates: "template",
  prompts: "prompt",
};

async function judgeUndeclared({ main }: Ground) {
  const findings: Finding[] = [];
  const others = [
    ...listNames.map((name) => [capabilityOf[name], listMethods[name], undefined] as const),
    ["completions", "completion/complete", completion] as const,
    ...(main.isStateless ? [] : [["logging", "logging/setLevel", { level: "info" }] as const]),
  ].filter(([capability]) => !main.declares(capability) && isInRevision(capability, main));
  for (const [capability, method, params] of others) {
    const answer = await main.ask(method, params);
    if (answer.kind === "error" || (answer.kind === "result" && isNothing(answer.result, method))) continue;
    findings.push(
      answer.kind === "result"
        ? { message: `It does not declare ${capability}, but answers ${method}.`, where: method }
        : { message: `${method} is not answered: ${answer.why}.`, where: method },
    );
  }
  return found(findings);
}

/** A server that has nothing may say so. */
function isNothing(result: object, method: string): boolean {
  const lists = Object.values(result).filter(Array.isArray);
  return method.endsWith("/list") && lists.every(({ length }) => length === 0);
}

/** Completions were not declared in the first revision. */
function isInRevision(capability: string, { revision }: Visit): boolean {
  return capability !== "completions" || revision >= "2025-03-26";
}

const completion = {
  ref: { type: "ref/prompt", name: "plenum-doctor-no-such-thing" },
  argument: { name: "a", value: "" },
};

async function judgeStable({ main }: Ground) {
  const findings: Finding[] = [];
  for (const name of listNames.filter((one) => main.declares(capabilityOf[one]))) {
    const [first, second] = [await main.list(name), await main.listAgain(name)].map(({ items }) =>
      items.map((item) => String(item.name ?? item.uri)),
    ) as [string[], string[]];
    const where = listMethods[name];
    if (first.join("\n") === second.join("\n")) continue;
    const isSorted = [...first].sort().join("\n") === [...second].sort().join("\n");
    findings.push({
      message: isSorted
        ? "Asked twice, it lists the same in another order: what a model has cached of its prompt is lost."
        : "Asked twice, it lists other things.",
      where,
    });
  }
  return found(findings);
}

async function judgePages({ main }: Ground) {
  const findings: Finding[] = [];
  for (const name of listNames.filter((one) => main.declares(capabilityOf[one]))) {
    const { answer, problem } = await main.list(name);
    if (answer.kind === "result" && Array.isArray(answer.result[name]) && problem !== undefined)
      findings.push({ message: `${listMethods[name]}: ${problem}.`, where: listMethods[name] });
  }
  return found(findings);
}

async function judgeCursor({ main }: Ground) {
  const name = listNames.find((one) => main.declares(capabilityOf[one]));
  if (!name) return skip("it has no lists");
  const answer = await main.ask(listMethods[name], { cursor: "plenum-doctor-no-such-cursor" });
  if (answer.kind === "error" && answer.code === -32602) return found([]);
  const where = listMethods[name];
  if (answer.kind === "result")
    return found([{ message: "A cursor that it never gave is answered with a page.", where }]);
  const severity = answer.kind === "none" ? "error" : "note";
  return found([{ message: `A cursor that it never gave: ${describeAnswer(answer)}.`, where, severity }]);
}

async function judgeSame({ stays }: Ground) {
  const sets = new Map<string, string[]>();
  for (const { visit } of stays) {
    if (!visit?.declares("tools")) continue;
    const names = (await visit.list("tools")).items.map(({ name }) => String(name)).join(", ");
    sets.set(names, [...(sets.get(names) ?? []), visit.revision]);
  }
  if (sets.size < 2) return found([]);
  const told = [...sets].map(
    ([names, revisions]) => `${names.split(", ").length} in ${[...new Set(revisions)].join(", ")}`,
  );
  return found([{ message: `Its tools differ from revision to revision: ${told.join("; ")}.`, where: "tools/list" }]);
}

async function judgeEmpty({ main }: Ground) {
  const findings: Finding[] = [];
  for (const name of ["tools", "prompts"] as const) {
    if (!main.declares(name)) continue;
    const { items, problem } = await main.list(name);
    if (items.length === 0 && problem === undefined)
      findings.push({ message: `It declares ${name}, and lists none.`, where: listMethods[name] });
  }
  const names = ["tools", "resources", "prompts"];
  if (!names.some((name) => main.declares(name)))
    findings.push({ message: "It declares neither tools nor resources nor prompts.", severity: "warning" });
  return found(findings);
}

const usual = { appliesTo: "any", severity: "error" } as const;

export const capabilitiesChecks: readonly Check[] = [
  {
    ...usual,
    id: "capabilities/lists",
    title: "What it declares can be listed",
    looksAt: "the lists of what it declares",
    remedy: "Serve the list, if only an empty one, or do not declare the capability.",
    run: judgeLists,
  },
  {
    ...usual,
    id: "capabilities/pages",
    title: "Lists come to an end",
    looksAt: "the cursors of all pages",
    remedy: "Leave nextCursor out on the last page, and give a new cursor on every other.",
    run: judgePages,
  },
  {
    ...usual,
    id: "capabilities/cursor",
    title: "A cursor that it never gave is error -32602",
    looksAt: "a list with a cursor that was made up",
    severity: "note",
    remedy: "Answer it with error -32602: a client that has an old cursor must learn to begin anew.",
    run: judgeCursor,
  },
  {
    ...usual,
    id: "capabilities/undeclared",
    title: "What it does not declare is refused",
    looksAt: "lists, completion and logging that it does not declare",
    severity: "warning",
    remedy: "Declare the capability, or answer with error -32601. Clients do not ask for what is not declared.",
    run: judgeUndeclared,
  },
  {
    ...usual,
    id: "capabilities/stable",
    title: "Lists are the same when asked twice",
    looksAt: "names and order of two lists",
    severity: "warning",
    remedy: "Keep the order, and tell of changes with list_changed.",
    run: judgeStable,
  },
  {
    ...usual,
    id: "capabilities/same-tools",
    title: "The tools are the same in all revisions",
    looksAt: "the names of the tools in each revision",
    severity: "note",
    spansRevisions: true,
    remedy: "Offer the same tools, unless one cannot work in a revision.",
    run: judgeSame,
  },
  {
    ...usual,
    id: "capabilities/empty",
    title: "It has something to offer",
    looksAt: "lists that are empty",
    severity: "note",
    remedy: "Do not declare what there is none of.",
    run: judgeEmpty,
  },
];
