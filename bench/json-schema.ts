// JSON Schema validation: ours, @cfworker/json-schema and ajv on the same schemas and values, in one run.
// Prints nanoseconds per validation, time to compile, and failures in the official suite.
// Usage: node --conditions=plenum-source --import tsx bench/json-schema.ts
import { compileJsonSchema, type JsonSchema } from "plenum/schema";
import { prepareSuite, readDocuments, readGroups } from "../test/json-schema/suite.ts";

type Prepare = (schema: JsonSchema | boolean, draft: "2020-12" | "7") => (value: unknown) => boolean;

interface Peers {
  readonly [name: string]: (documents: Record<string, JsonSchema | boolean>) => Prepare;
}

// Named at run time: the peers are needed for this comparison only, and may be absent.
async function load<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    throw new Error(`${name} is needed for this comparison: npm install --no-save ${name}`, { cause: error });
  }
}

async function loadPeers(): Promise<Peers> {
  interface Cfworker {
    Validator: new (
      schema: unknown,
      draft: string,
      shortCircuit: boolean,
    ) => { validate(value: unknown): { valid: boolean }; addSchema(schema: unknown, id: string): void };
  }
  interface Ajv {
    default: new (
      options: object,
    ) => { compile(schema: unknown): (value: unknown) => boolean; addSchema(schema: unknown, id: string): void };
  }
  const cfworker = await load<Cfworker>("@cfworker/json-schema");
  const ajv = { "2020-12": await load<Ajv>("ajv/dist/2020.js"), "7": await load<Ajv>("ajv/dist/ajv.js") };
  return {
    plenum: (documents) => (schema, draft) => {
      const validate = compileJsonSchema(schema, { documents, defaultDialect: draft === "7" ? "draft-07" : "2020-12" });
      return (value) => validate(value) === undefined;
    },
    "@cfworker/json-schema": (documents) => (schema, draft) => {
      const validator = new cfworker.Validator(schema, draft, true);
      for (const [uri, document] of Object.entries(documents)) validator.addSchema(document, uri);
      return (value) => validator.validate(value).valid;
    },
    ajv: (documents) => (schema, draft) => {
      const Ajv = ajv[draft].default as Ajv["default"] & { default?: Ajv["default"] };
      const instance = new (Ajv.default ?? Ajv)({ strict: false, validateFormats: false, logger: false });
      for (const [uri, document] of Object.entries(documents)) {
        if (!(draft === "7" ? /draft(?!-?0?7)/ : /draft(?!\/?2020-12)/).test(uri)) {
          try {
            instance.addSchema(document, uri);
          } catch {
            // It brings its own meta-schemas.
          }
        }
      }
      return instance.compile(schema);
    },
  };
}

const forecast: JsonSchema = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 1, maxLength: 100 },
    days: { type: "integer", minimum: 1, maximum: 14 },
    units: { enum: ["metric", "imperial"] },
    hourly: { type: "boolean" },
  },
  required: ["city"],
  additionalProperties: false,
};
const order: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string", pattern: "^[A-Z]{2}-[0-9]{6}$" },
    customer: { $ref: "#/$defs/person" },
    lines: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          sku: { type: "string" },
          count: { type: "integer", minimum: 1 },
          price: { type: "number", exclusiveMinimum: 0 },
          tags: { type: "array", items: { type: "string" } },
        },
        required: ["sku", "count"],
      },
    },
    payment: {
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "card" }, last4: { type: "string" } },
          required: ["kind", "last4"],
        },
        {
          type: "object",
          properties: { kind: { const: "invoice" }, due: { type: "string" } },
          required: ["kind", "due"],
        },
      ],
    },
  },
  required: ["id", "customer", "lines"],
  $defs: {
    person: {
      type: "object",
      properties: { name: { type: "string" }, friends: { type: "array", items: { $ref: "#/$defs/person" } } },
      required: ["name"],
    },
  },
};
const line = { sku: "A-1", count: 3, price: 9.5, tags: ["x", "y"] };
const cases: readonly (readonly [name: string, schema: JsonSchema, value: unknown])[] = [
  ["tool arguments", forecast, { city: "Paris", days: 3, units: "metric", hourly: false }],
  ["tool arguments, invalid", forecast, { city: "Paris", days: "3", units: "metric" }],
  [
    "nested order, 10 lines",
    order,
    {
      id: "AB-123456",
      customer: { name: "Ann", friends: [{ name: "Bob" }, { name: "Cy", friends: [{ name: "Di" }] }] },
      lines: Array.from({ length: 10 }, () => line),
      payment: { kind: "invoice", due: "2026-01-01" },
    },
  ],
  [
    "1,000 numbers",
    { type: "array", items: { type: "number" } },
    Array.from({ length: 1000 }, (_, index) => index / 2),
  ],
];

/** The best of several rounds, in nanoseconds a call. */
function measure(work: () => unknown): number {
  let best = Infinity;
  let count = 1;
  for (let round = 0; round < 12; round++) {
    const start = performance.now();
    for (let index = 0; index < count; index++) work();
    const took = performance.now() - start;
    if (took < 40) count *= 2;
    best = Math.min(best, (took * 1e6) / count);
    if (took < 40) round = Math.max(0, round - 1);
  }
  return best;
}

const peers = await loadPeers();
for (const [name, schema, value] of cases) {
  process.stdout.write(`${name}\n`);
  for (const [peer, prepare] of Object.entries(peers)) {
    const validate = prepare({})(schema, "2020-12");
    const checking = measure(() => validate(value));
    const compiling = measure(() => prepare({})(schema, "2020-12"));
    process.stdout.write(
      `  ${peer.padEnd(24)} ${checking.toFixed(0).padStart(8)} ns a validation  ${(compiling / 1000).toFixed(1).padStart(8)} µs to compile\n`,
    );
  }
}

await prepareSuite();
const documents = readDocuments();
for (const [draft, folder] of [
  ["2020-12", "draft2020-12"],
  ["7", "draft7"],
] as const) {
  for (const [peer, prepare] of Object.entries(peers)) {
    let wrong = 0;
    let total = 0;
    for (const group of readGroups(folder)) {
      for (const test of group.tests) {
        total++;
        try {
          if (prepare(documents)(group.schema, draft)(test.data) !== test.valid) wrong++;
        } catch {
          wrong++;
        }
      }
    }
    process.stdout.write(`official suite ${folder.padEnd(12)} ${peer.padEnd(24)} ${wrong} of ${total} wrong\n`);
  }
}
