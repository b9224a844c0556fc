// Questions that are not put, or not answered: what a client did not declare, what its revision lacks, and too many.
import type { Client, ClientOptions, JsonObject } from "plenum";
import { expect, test } from "vitest";
import { covers } from "../requirements/covers.ts";
import { declared, onSample, withForms, withoutForms } from "./asking.ts";
import { each, errorOf, modern, open } from "./harness.ts";

interface Missing {
  readonly capability: string;
  readonly required: JsonObject;
  call(client: Client): Promise<unknown>;
  readonly options?: ClientOptions;
}

const missing: readonly Missing[] = [
  {
    capability: "elicitation.form",
    required: { elicitation: { form: {} } },
    call: (client) => client.callTool("deploy", { env: "staging" }),
  },
  {
    capability: "elicitation.url",
    required: { elicitation: { url: {} } },
    call: (client) => client.callTool("visit", { url: "https://example.com/" }),
    options: { onElicit: () => ({ action: "cancel" }) },
  },
  {
    capability: "sampling",
    required: { sampling: {} },
    call: (client) => client.callTool("think", { about: "glue" }),
  },
  {
    capability: "sampling.tools",
    required: { sampling: { tools: {} } },
    call: (client) => client.callTool("ponder", { about: "glue" }),
    options: { onSample },
  },
  { capability: "roots", required: { roots: {} }, call: (client) => client.callTool("roots") },
];

test.each(each())(
  "what was not declared is not asked, in $revision over $transport",
  async ({ revision, transport }) => {
    covers(["elicitation-empty-is-form", "lifecycle-operation-capabilities-2025-06"], revision);
    for (const { capability, required, call, options } of missing) {
      const { client, traffic } = await open(revision, transport, options);
      if (revision === modern) {
        const error = await errorOf(call(client));
        expect(error, capability).toMatchObject({ code: "peer_error", rpcCode: -32021 });
        expect(error.data).toEqual({ requiredCapabilities: required });
      } else {
        const result = (await call(client)) as { isError: boolean; text: string };
        expect(result.isError, capability).toBe(true);
        const isLacking = capability.startsWith("elicitation") && withoutForms.includes(revision);
        const why = isLacking ? `${revision} has no elicitation/create` : `needs the client capability ${capability}`;
        expect(result.text).toContain(why);
      }
      expect(traffic.heard().filter(({ id, method }) => id !== undefined && method !== undefined)).toEqual([]);
      await client.close();
    }
  },
);

test.each(each())(
  "reads and prompts cannot ask either, in $revision over $transport",
  async ({ revision, transport }) => {
    const { client } = await open(revision, transport);
    for (const call of [() => client.readResource("secret://drawer"), () => client.getPrompt("interview")]) {
      const error = await errorOf(call());
      expect(error).toMatchObject({ code: "peer_error", rpcCode: revision === modern ? -32021 : -32600 });
    }
  },
);

test.each(each(withoutForms))("$revision has no forms, over $transport", async ({ revision, transport }) => {
  covers(["schema-client-capabilities"], revision);
  const { client, traffic } = await open(revision, transport, {
    onElicit: () => expect.fail("asked"),
    onElicitUrl: () => expect.fail("asked"),
    onSample,
    sampleTools: true,
    sampleContext: true,
    roots: [],
  });
  expect((await client.callTool("deploy", { env: "staging" })).text).toContain(`${revision} has no elicitation/create`);
  expect(declared(traffic)).toEqual([{ sampling: {}, roots: { listChanged: true } }]);
});

test.each(each(withForms))("a flood of questions is stopped, in $revision over $transport", async (where) => {
  covers(["elicitation-rate-limit", "sampling-rate-limit"], where.revision);
  const warnings: string[] = [];
  let asked = 0;
  const { client } = await open(where.revision, where.transport, {
    asksPerMinute: 2,
    onElicit() {
      asked++;
      return { action: "decline" };
    },
    onSample: () => expect.fail("asked"),
    onWarning: (problem) => warnings.push(problem),
  });
  for (let i = 0; i < 2; i++) await client.callTool("deploy", { env: "staging" });
  for (const [name, args] of [
    ["deploy", { env: "staging" }],
    ["think", { about: "glue" }],
  ] as const) {
    if (where.revision === modern) expect((await errorOf(client.callTool(name, args))).code).toBe("rate_limited");
    else expect((await client.callTool(name, args)).isError).toBe(true);
  }
  expect(asked).toBe(2);
  expect(warnings.filter((warning) => warning.includes("more than 2 times a minute"))).toHaveLength(1);
});
