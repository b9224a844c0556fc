// The program that is type-checked: as many tools as asked for, with schemas of three to six properties and handlers that
// use every argument. The schemas are the same for each library; only how a tool is registered differs.

/** How a library registers tools: what comes first, and one tool with its schema and the text that its handler makes. */
export interface Dialect {
  readonly head: string;
  tool(part: ToolText): string;
}

export interface ToolText {
  readonly name: string;
  readonly description: string;
  /** `{ id: z.string(), … }` */
  readonly shape: string;
  /** `{ id, … }` */
  readonly names: string;
  /** An expression of type string that uses each argument as what it is: it does not compile if inference fails. */
  readonly text: string;
}

interface Field {
  readonly name: string;
  readonly schema: string;
  readonly use: string;
}

/** What most arguments of tools are: text with bounds, numbers, choices, lists of text; some of them optional. */
const flat: readonly Field[] = [
  { name: "id", schema: "z.string().min(1).max(64)", use: "id.toUpperCase()" },
  { name: "count", schema: "z.number().int().min(0).max(1000)", use: "count.toFixed(0)" },
  { name: "enabled", schema: "z.boolean().optional()", use: '((enabled ?? false) ? "on" : "off")' },
  { name: "tags", schema: "z.array(z.string())", use: 'tags.map((tag) => tag.trim()).join(",")' },
  { name: "mode", schema: 'z.enum(["fast", "slow", "auto"])', use: '(mode satisfies "fast" | "slow" | "auto")' },
  { name: "limit", schema: "z.number().int().positive().default(20)", use: "limit.toFixed(0)" },
  { name: "email", schema: "z.email().optional()", use: '(email?.split("@")[0] ?? "")' },
  { name: "note", schema: "z.string().nullable()", use: '(note ?? "").padEnd(2)' },
  { name: "price", schema: "z.coerce.number().nonnegative()", use: "price.toFixed(2)" },
  { name: "cursor", schema: "z.string().optional()", use: '(cursor ?? "").trim()' },
];

/** What every fifth tool has one of. */
const deep: readonly Field[] = [
  {
    name: "range",
    schema: "z.object({ from: z.string(), to: z.string().optional() })",
    use: "(range.to ?? range.from).slice(0, 10)",
  },
  { name: "labels", schema: "z.record(z.string(), z.number())", use: 'Object.values(labels).join("+")' },
  {
    name: "filters",
    schema: 'z.array(z.object({ field: z.string(), op: z.enum(["eq", "lt", "gt"]), value: z.unknown() })).optional()',
    use: '(filters ?? []).map(({ field, op }) => field + op).join(" ")',
  },
  {
    name: "value",
    schema: "z.union([z.string(), z.number()])",
    use: '(typeof value === "number" ? value.toFixed(2) : value)',
  },
  {
    name: "target",
    schema:
      'z.discriminatedUnion("kind", [z.object({ kind: z.literal("user"), login: z.string() }), z.object({ kind: z.literal("team"), size: z.number() })])',
    use: '(target.kind === "user" ? target.login : target.size.toFixed(0))',
  },
];

/**
 * The tools of a program, always the same for a number. Three to six arguments, each number as often as the others; the first
 * of every fifth tool is deep. All others are taken in turn, so that each is as frequent as any, and none comes twice in a tool.
 */
function toolTexts(count: number): ToolText[] {
  let turn = 0;
  return Array.from({ length: count }, (_, i) => {
    const parts = Array.from({ length: 3 + (i % 4) }, (_, at) => {
      const isDeep = at === 0 && i % 5 === 0;
      return (isDeep ? deep[(i / 5) % deep.length] : flat[turn++ % flat.length]) as Field;
    });
    return {
      name: `tool_${i}`,
      description: `Generated tool number ${i}`,
      shape: `{ ${parts.map(({ name, schema }) => `${name}: ${schema}.describe("${name} of ${i}")`).join(", ")} }`,
      names: `{ ${parts.map(({ name }) => name).join(", ")} }`,
      text: `[${parts.map(({ use }) => use).join(", ")}].join(" ")`,
    };
  });
}

export function programText(dialect: Dialect, count: number): string {
  return `${dialect.head}\n${toolTexts(count).map(dialect.tool).join("\n")}\n`;
}

const zod = 'import * as z from "zod";\n';
const info = '{ name: "types", version: "1.0.0" }';

/** How a schema is given: whole, or, where a library makes an object of them itself, as its properties. */
export type Form = "z.object" | "raw shape";

function official(path: string, form: Form): Dialect {
  const input = (shape: string): string => (form === "z.object" ? `z.object(${shape})` : shape);
  return {
    head: `${zod}import { McpServer } from "${path}";\nconst server = new McpServer(${info});`,
    tool: ({ name, description, shape, names, text }) =>
      `server.registerTool("${name}", { description: "${description}", inputSchema: ${input(shape)} }, async (${names}) => ({ content: [{ type: "text", text: ${text} }] }));`,
  };
}

const v1 = "@modelcontextprotocol/sdk/server/mcp.js";

/** By target, then by form. */
export const dialects: { readonly [target: string]: { readonly [form in Form]?: Dialect } } = {
  // The schemas and the handlers alone, with the types that zod itself gives. What others need beyond it is their own.
  bare: {
    "z.object": {
      head: zod,
      tool: ({ name, shape, names, text }) =>
        `const ${name} = z.object(${shape});\nexport const run_${name} = async (${names}: z.output<typeof ${name}>) => ({ content: [{ type: "text" as const, text: ${text} }] });`,
    },
  },
  plenum: {
    "z.object": {
      head: `${zod}import { createServer } from "plenum";\nconst server = createServer(${info});`,
      tool: ({ name, description, shape, names, text }) =>
        `server.tool("${name}", { description: "${description}", input: z.object(${shape}) }, async (${names}) => ({ content: [{ type: "text", text: ${text} }] }));`,
    },
  },
  v1: { "z.object": official(v1, "z.object"), "raw shape": official(v1, "raw shape") },
  v2: { "z.object": official("@modelcontextprotocol/server", "z.object") },
};
