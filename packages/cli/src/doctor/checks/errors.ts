// How the server refuses what it must refuse: with the right error, and without falling over.
import { setTimeout } from "node:timers/promises";
import type { JsonObject } from "plenum";
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Ground } from "../ground.ts";
import { type Answer, isObject, statelessMeta, toObject, type Visit } from "../visit.ts";
import { noSuchName, wrongQuestions } from "../wrong-questions.ts";

type Judge = (answer: Answer, visit: Visit) => Omit<Finding, "revision"> | undefined;

/** The answer to a wrong question in each revision, judged; the same finding in several revisions is one. */
async function judgeAll(ground: Ground, name: keyof typeof wrongQuestions, judge: Judge): Promise<Finding[]> {
  const seen = new Map<string, Finding & { revisions: string[] }>();
  for (const { visit } of ground.stays) {
    const answer = visit && (await wrongQuestions[name](visit));
    if (!answer || (answer.kind === "none" && answer.isUnsent)) continue;
    const finding = judge(answer, visit);
    if (!finding) continue;
    const entry = seen.get(finding.message) ?? { ...finding, revisions: [] };
    if (!entry.revisions.includes(visit.revision)) entry.revisions.push(visit.revision);
    seen.set(finding.message, entry);
  }
  return [...seen.values()].map(({ revisions, ...finding }) => ({ ...finding, revision: revisions.join(", ") }));
}

const judgeMethod: Judge = (answer) => {
  if (answer.kind === "error" && answer.code === -32601) return undefined;
  const where = `doctor/${noSuchName}`;
  if (answer.kind === "error")
    return {
      message: `A method that does not exist is answered with error ${answer.code}.`,
      where,
      severity: "warning",
    };
  if (answer.kind === "result") return { message: "A method that does not exist is answered with a result.", where };
  return { message: `A method that does not exist is not answered: ${answer.why}.`, where };
};

const judgeTool: Judge = (answer) => {
  const where = "tools/call";
  if (answer.kind === "none") return { message: `A call of an unknown tool is not answered: ${answer.why}.`, where };
  if (answer.kind === "result")
    return answer.result.isError === true
      ? undefined
      : { message: "A call of a tool that does not exist succeeds.", where };
  if (answer.code === -32602) return undefined;
  const severity = answer.code === -32603 ? "warning" : "note";
  return { message: `A call of an unknown tool is answered with error ${answer.code}.`, where, severity };
};

const judgeResource: Judge = (answer, { revision }) => {
  const where = "resources/read";
  const right = revision >= "2026-07-28" ? -32602 : -32002;
  if (answer.kind === "none") return { message: `Reading an unknown resource is not answered: ${answer.why}.`, where };
  if (answer.kind === "result") {
    const { contents } = answer.result;
    // Some servers give nothing for what is not there.
    const isEmpty = Array.isArray(contents) && contents.length === 0;
    const what = isEmpty ? "an empty result" : "a result";
    return {
      message: `Reading a resource that does not exist gives ${what}.`,
      where,
      severity: isEmpty ? "warning" : "error",
    };
  }
  if (answer.code === right) return undefined;
  const severity = answer.code === -32602 || answer.code === -32002 ? "note" : "warning";
  return { message: `An unknown resource is error ${answer.code}; the revision has ${right} for it.`, where, severity };
};

const judgePrompt: Judge = (answer) => {
  const where = "prompts/get";
  if (answer.kind === "none") return { message: `An unknown prompt is not answered: ${answer.why}.`, where };
  if (answer.kind === "result") return { message: "A prompt that does not exist is given all the same.", where };
  if (answer.code === -32602) return undefined;
  const severity = answer.code === -32603 ? "warning" : "note";
  return { message: `An unknown prompt is answered with error ${answer.code}.`, where, severity };
};

/** A tool that may be called with too little: it says that it changes nothing, and needs something. */
function findCallable(tools: readonly JsonObject[]): JsonObject | undefined {
  return tools.find(({ annotations, inputSchema }) => {
    const { required } = toObject(inputSchema);
    return toObject(annotations).readOnlyHint === true && Array.isArray(required) && required.length > 0;
  });
}

async function judgeMissing({ main }: Ground) {
  if (!main.declares("tools")) return skip("it has no tools");
  const tool = findCallable((await main.list("tools")).items);
  if (!tool) return skip("no tool is marked read-only and needs an argument; others are not called");
  const where = `tool ${JSON.stringify(tool.name)}`;
  const answer = await main.ask("tools/call", { name: tool.name, arguments: {} });
  if (answer.kind === "none")
    return found([{ message: `A call without a required argument is not answered: ${answer.why}.`, where }]);
  if (answer.kind === "result" && answer.result.isError !== true)
    return found([{ message: "A call without a required argument succeeds.", where }]);
  if (answer.kind === "error" && answer.code !== -32602) {
    const message = `A call without a required argument is error ${answer.code}: to the client it looks like a broken server.`;
    return found([{ message, where, severity: "warning" }]);
  }
  return found([], `tried ${where}`);
}

/** Requests whose params are of no shape at all. */
const malformed: readonly JsonObject[] = [
  { params: [] },
  { params: "text" },
  { params: { name: 7, arguments: "none" } },
  { params: { name: { toString: null }, arguments: null } },
];

/** Many servers do not answer them at all: once they have answered what came after, they are not waited for longer than this. */
const graceMs = 500;

async function judgeMalformed(ground: Ground) {
  const { main } = ground;
  // Over HTTP what is wrong is refused as a whole, and a session may end with it: it is spoken to in one of its own.
  const visit = await ground.visit(main.revision);
  try {
    const method = main.declares("tools") ? "tools/call" : "initialize";
    const answers = new Map<string, Answer>();
    const asked = malformed.map(async ({ params }, place) => {
      const all = isObject(params) && visit.isStateless ? { ...params, _meta: statelessMeta(visit.revision) } : params;
      const message = { jsonrpc: "2.0", id: `doctor-malformed-${place}`, method, params: all };
      answers.set(JSON.stringify(params), await visit.askBy(message));
    });
    if (!(await visit.isAlive()))
      return found([{ message: "Malformed params end the server: it does not answer any more.", where: method }]);
    await Promise.race([Promise.all(asked), setTimeout(graceMs)]);
    const taken = [...answers].find(([, answer]) => answer.kind === "result" && answer.result.isError !== true);
    if (taken) return found([{ message: `${method} with params ${taken[0]} succeeds.`, where: method }]);
    const silent = malformed.map(({ params }) => JSON.stringify(params)).filter((text) => isSilence(answers.get(text)));
    if (silent.length === 0) return found([]);
    const message = `Malformed params are not answered: ${silent.join(", ")}.`;
    return found([{ message, where: method, severity: "note", remedy: "Answer them with error -32602." }]);
  } finally {
    visit.close().catch(() => {});
  }
}

function isSilence(answer: Answer | undefined): boolean {
  return answer === undefined || answer.kind === "none";
}

/** Lines of a stack, or paths of the machine: `at handle (/srv/app/index.js:3:1)`, `File "/srv/app.py", line 3`. */
const stackLine = /\n\s+at .+:\d+:\d+|File "[^"]+", line \d+|Traceback \(most recent call last\)/;

async function findLeaks({ stays }: Ground) {
  const findings = new Map<string, Finding>();
  for (const { visit } of stays) {
    for (const ask of visit ? Object.values(wrongQuestions) : []) {
      const answer = await ask(visit as Visit);
      const text = answer?.kind === "error" ? answer.message : JSON.stringify(toObject(toResult(answer)).content ?? "");
      if (stackLine.test(text.replaceAll("\\n", "\n")))
        findings.set("", { message: "An error tells the client of the stack, with paths of the machine." });
    }
  }
  return found([...findings.values()]);
}

function toResult(answer: Answer | undefined): JsonObject | undefined {
  return answer?.kind === "result" ? answer.result : undefined;
}

const needs = (capability: string, name: keyof typeof wrongQuestions, judge: Judge) => async (ground: Ground) =>
  ground.main.declares(capability) ? found(await judgeAll(ground, name, judge)) : skip(`it has no ${capability}`);

const usual = { appliesTo: "any", severity: "error", spansRevisions: true } as const;

export const errorsChecks: readonly Check[] = [
  {
    ...usual,
    id: "errors/unknown-method",
    title: "A method that does not exist is error -32601",
    looksAt: "the answer to a method that no server has",
    remedy: "Answer methods that the server does not have with error -32601, Method not found.",
    run: async (ground) => found(await judgeAll(ground, "method", judgeMethod)),
  },
  {
    ...usual,
    id: "errors/unknown-tool",
    title: "A call of a tool that does not exist is an error",
    looksAt: "the answer to a call of a tool that no server has",
    remedy:
      "Answer with error -32602 that names the tool: models make up names, and must learn that there is no such tool.",
    run: needs("tools", "tool", judgeTool),
  },
  {
    ...usual,
    id: "errors/missing-argument",
    title: "A call without a required argument is refused",
    looksAt: "a call of a tool that is marked read-only, without its arguments",
    remedy:
      "Check arguments against inputSchema before the handler runs, and answer with isError, so that the model can correct itself.",
    run: judgeMissing,
  },
  {
    ...usual,
    id: "errors/unknown-resource",
    title: "Reading a resource that does not exist is the error of the revision",
    looksAt: "the answer to reading a URI that no server has",
    remedy: "Answer with error -32002 (from 2026-07-28 on -32602), so that clients can tell it from a broken server.",
    run: needs("resources", "resource", judgeResource),
  },
  {
    ...usual,
    id: "errors/unknown-prompt",
    title: "A prompt that does not exist is an error",
    looksAt: "the answer to getting a prompt that no server has",
    remedy: "Answer with error -32602.",
    run: needs("prompts", "prompt", judgePrompt),
  },
  {
    ...usual,
    id: "errors/malformed-params",
    title: "Malformed params do not end the server",
    looksAt: "requests whose params are a list, a text, or of the wrong types; then whether it still answers",
    remedy: "Check the shape of params before they are used, answer with error -32602, and go on.",
    run: judgeMalformed,
  },
  {
    ...usual,
    id: "errors/leaks",
    title: "Errors tell nothing of the machine",
    looksAt: "stacks and paths in the errors above",
    severity: "warning",
    remedy: "Send a short message, and write the stack to the log.",
    run: findLeaks,
  },
];
