// Questions to the user: forms to fill in and pages to visit, in every revision that has them.
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AnswerContext, ElicitForm, ElicitPage, ElicitResult, JsonObject } from "plenum";
import { expect, onTestFinished, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { accept, answers, declared, seen, withForms, withPages } from "./asking.ts";
import { each, errorOf, modern, open } from "./harness.ts";
import { createInbox } from "./inbox.ts";

test.each(each(withForms))("a form is filled in, in $revision over $transport", async ({ revision, transport }) => {
  covers(
    [
      "elicitation-create",
      "elicitation-capability",
      "elicitation-capability-2026",
      "elicitation-one-mode",
      "elicitation-approval",
      "elicitation-ui-clarity",
      "schema-elicit-result",
      "rpc-support-core-2026",
    ],
    revision,
  );
  const asked: [ElicitForm, AnswerContext][] = [];
  const { client, traffic } = await open(revision, transport, {
    onElicit(form, ctx) {
      asked.push([form, ctx]);
      return accept({ confirm: true, reason: "it is Friday" });
    },
  });
  const result = await client.callTool("deploy", { env: "production" });
  expect(result.text).toBe("Deployed build-1 to production: it is Friday.");
  expect(asked).toHaveLength(1);
  const [[form, ctx] = []] = asked;
  expect(form?.message).toBe("Deploy build-1 to production?");
  expect(form?.schema).toMatchObject({
    type: "object",
    properties: { confirm: { type: "boolean" }, reason: { type: "string" } },
  });
  expect(ctx?.revision).toBe(revision);
  expect(ctx?.signal.aborted).toBe(false);
  // Each effect happened once, however often the handler was run.
  expect(await seen(client)).toMatchObject({ build: 1, deploy: 1 });
  const modes = revision === "2025-06-18" ? {} : { form: {} };
  for (const capabilities of declared(traffic)) expect(capabilities).toEqual({ elicitation: modes });
  expect(answers(traffic)).toEqual([{ action: "accept", content: { confirm: true, reason: "it is Friday" } }]);
});

test.each(each(withForms))("a form is refused, in $revision over $transport", async ({ revision, transport }) => {
  covers(["elicitation-create", "elicitation-action-decline-cancel", "elicitation-decline-any-time"], revision);
  const given: ElicitResult[] = [{ action: "decline" }, { action: "cancel" }, accept({ confirm: false })];
  const next = given.values();
  const { client, traffic } = await open(revision, transport, {
    // What was typed before is not told with a refusal.
    onElicit: () => ({ content: { confirm: true }, ...next.next().value }) as ElicitResult,
  });
  for (const { action } of given)
    expect((await client.callTool("deploy", { env: "staging" })).text).toBe(`Not deployed (${action}).`);
  expect(await seen(client)).toEqual({ build: 3 });
  const [decline, cancel] = answers(traffic);
  expect(decline).toEqual({ action: "decline" });
  expect(cancel).toEqual({ action: "cancel" });
});

test.each(each(withForms))("defaults of a form in $revision over $transport", async ({ revision, transport }) => {
  covers(["elicitation-defaults"], revision);
  const forms: ElicitForm[] = [];
  const { client } = await open(revision, transport, {
    onElicit(form) {
      forms.push(form);
      return accept(form.message === "A few questions" ? { named: "x", count: 7 } : { confirm: true });
    },
  });
  expect((await client.callTool("deploy", { env: "staging" })).text).toBe("Deployed build-1 to staging: no reason.");
  const survey = JSON.parse((await client.callTool("survey")).text);
  // In 2025-06-18 only yes-or-no questions have defaults.
  const defaults = revision === "2025-06-18" ? { sure: true } : { plain: "a", count: 3, ratio: 0.5, sure: true };
  expect(forms.at(-1)?.defaults).toEqual(defaults);
  expect(survey).toEqual({ action: "accept", content: { ...defaults, named: "x", count: 7 } });
});

test.each(each(withForms))("every kind of field in $revision over $transport", async ({ revision, transport }) => {
  const forms: ElicitForm[] = [];
  const filled = {
    plain: "b",
    named: "y",
    titled: "ash",
    count: 10,
    ratio: 0.25,
    sure: false,
    mail: "ada@example.com",
  };
  const { client } = await open(revision, transport, {
    onElicit(form) {
      forms.push(form);
      return accept(form.message === "A few questions" ? filled : { plain: ["c", "a"] });
    },
  });
  expect(JSON.parse((await client.callTool("survey")).text)).toEqual({ action: "accept", content: filled });
  expect(forms[0]?.schema.properties).toMatchObject({
    plain: { type: "string", enum: ["a", "b"] },
    named: { type: "string", enum: ["x", "y"], enumNames: ["Ex", "Why"] },
    titled:
      revision === "2025-06-18"
        ? { type: "string", enum: ["oak", "ash"], enumNames: ["Oak", "Ash"] }
        : {
            type: "string",
            oneOf: [
              { const: "oak", title: "Oak" },
              { const: "ash", title: "Ash" },
            ],
          },
    count: { type: "integer", minimum: 0, maximum: 10 },
    ratio: { type: "number" },
    sure: { type: "boolean", default: true },
    mail: { type: "string", format: "email" },
  });
  // Several choices at once exist from 2025-11-25 on; before, the question cannot be put at all.
  const pick = await client.callTool("pick");
  if (revision === "2025-06-18") {
    expect(pick.isError).toBe(true);
    expect(forms).toHaveLength(1);
  } else {
    expect(JSON.parse(pick.text)).toEqual({ action: "accept", content: { plain: ["c", "a"], titled: ["ash"] } });
  }
});

test.each(each(withForms))("an answer that does not fit stays here, in $revision over $transport", async (where) => {
  const { revision } = where;
  covers(
    [
      "elicitation-action-accept",
      "elicitation-validate-client",
      "elicitation-content-values",
      "elicitation-content-values-2025-11",
    ],
    revision,
  );
  const wrong = [{ named: "z" }, { named: "x", count: 11 }, { named: null }, { named: "x", mail: { at: "home" } }, {}];
  const next = wrong.values();
  const warnings: string[] = [];
  const { client, traffic } = await open(revision, where.transport, {
    onElicit: () => accept(next.next().value as JsonObject),
    onWarning: (problem) => warnings.push(problem),
  });
  for (const _ of wrong) {
    if (revision === modern) expect((await errorOf(client.callTool("survey"))).code).toBe("internal_error");
    else expect((await client.callTool("survey")).isError).toBe(true);
  }
  expect(answers(traffic)).toEqual([]);
  expect(warnings).toHaveLength(wrong.length);
  for (const warning of warnings) expect(warning).toContain("onElicit failed to answer elicitation/create");
});

test.each(each(withForms))(
  "a call that is aborted takes its questions back, in $revision over $transport",
  async (where) => {
    covers(["elicitation-decline-any-time"], where.revision);
    const asked = createInbox<AbortSignal>();
    const { client } = await open(where.revision, where.transport, {
      onElicit(_, { signal }) {
        asked.put(signal);
        return new Promise(() => {});
      },
    });
    const stop = new AbortController();
    const call = errorOf(client.callTool("deploy", { env: "staging" }, { signal: stop.signal }));
    const [signal] = await asked.first(1);
    expect(signal?.aborted).toBe(false);
    const aborted = new Promise((resolve) => signal?.addEventListener("abort", resolve));
    stop.abort();
    expect((await call).code).toBe("aborted");
    await aborted;
  },
);

test.each(each(withPages))("a page is visited in $revision over $transport", async ({ revision, transport }) => {
  covers(
    [
      "elicitation-create",
      "elicitation-one-mode",
      "elicitation-no-prefetch",
      "elicitation-no-open-without-consent",
      "elicitation-content-values-2025-11",
      "elicitation-no-completion-2026",
    ],
    revision,
  );
  let visits = 0;
  const site = createHttpServer((_, response) => {
    visits++;
    response.end();
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void site.close());
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/sign-in?state=a%20b#there`;

  const pages: ElicitPage[] = [];
  const actions = ["accept", "decline", "cancel"] as const;
  const next = actions.values();
  const { client, traffic } = await open(revision, transport, {
    onElicitUrl(page) {
      pages.push(page);
      return { action: next.next().value ?? "cancel", content: { no: "thing" } } as { action: "accept" };
    },
  });
  for (const action of actions) expect((await client.callTool("visit", { url })).text).toBe(`visited: ${action}`);
  expect(pages).toEqual(actions.map(() => ({ message: "Please sign in", url })));
  expect(answers(traffic)).toEqual(actions.map((action) => ({ action })));
  for (const capabilities of declared(traffic)) expect(capabilities).toEqual({ elicitation: { url: {} } });
  // Nobody but the user goes there.
  expect(visits).toBe(0);
  const told = JSON.stringify(traffic.heard());
  expect(told.includes("elicitationId")).toBe(revision !== modern);
});
