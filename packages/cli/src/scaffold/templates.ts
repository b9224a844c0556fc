// What `plenum new` writes: the files of each template, as texts by path. They are what a beginner reads first, and they run as they are.
import { version } from "../identity.ts";
import { toServerName } from "./package-name.ts";

export const templateNames = ["server", "http", "minimal"] as const;
export type TemplateName = (typeof templateNames)[number];

export const templateSummaries: { readonly [name in TemplateName]: string } = {
  server: "a tool, a resource and a prompt, started by hosts on this machine (stdio)",
  http: "the same, served over HTTP",
  minimal: "one tool in one file, and its test",
};

/** Of what a scaffold depends on. A test compares them with what this project itself is tested with. */
export const versions = {
  "@types/node": "^20.19.43",
  tsx: "^4.23.15",
  typescript: "^7.0.2",
  zod: "^4.6.7",
} as const;

export interface TemplateOptions {
  readonly template: TemplateName;
  /** A name that npm takes. */
  readonly name: string;
}

/** Texts by path, with `/` between folders. */
export function formatTemplate({ template, name }: TemplateOptions): ReadonlyMap<string, string> {
  const isMinimal = template === "minimal";
  const server = toServerName(name);
  return new Map([
    ["package.json", `${JSON.stringify(toManifest(name, template), undefined, 2)}\n`],
    ["tsconfig.json", toJson(tsconfig)],
    ...(isMinimal ? [] : ([["tsconfig.build.json", toJson(tsconfigBuild)]] as const)),
    ["src/server.ts", isMinimal ? minimalServer(server) : fullServer(server)],
    ...(isMinimal ? [] : ([["src/main.ts", template === "http" ? httpMain : stdioMain]] as const)),
    ["test/server.test.ts", isMinimal ? minimalTest : fullTest(server)],
    ...(isMinimal ? [] : ([[".mcp.json", toJson(toConfig(server, template))]] as const)),
    [".gitignore", "node_modules/\ndist/\n*.log\n.env\n"],
    ["README.md", toReadme(name, template)],
  ]);
}

/** Lists of words on one line, as people and formatters write them. */
function toJson(value: object): string {
  const text = JSON.stringify(value, undefined, 2);
  return `${text.replace(/\[\n\s+([^[\]{}]*?)\n\s+\]/g, (_, words: string) => `[${words.replace(/\s*\n\s*/g, " ")}]`)}\n`;
}

function toManifest(name: string, template: TemplateName): object {
  const { zod, ...tools } = versions;
  const isMinimal = template === "minimal";
  return {
    name,
    version: "0.1.0",
    private: true,
    description: "A server of the Model Context Protocol",
    type: "module",
    engines: { node: ">=20.19" },
    ...(template === "server" && { bin: { [toServerName(name)]: "./dist/main.js" } }),
    ...(!isMinimal && { files: ["dist"] }),
    scripts: {
      dev: "plenum dev src/server.ts",
      start: isMinimal ? "plenum run src/server.ts" : "node dist/main.js",
      test: "node --import tsx --test test/*.test.ts",
      ...(!isMinimal && { build: "tsc -p tsconfig.build.json" }),
      types: "tsc",
    },
    dependencies: { plenum: `^${version}`, zod },
    devDependencies: { "@plenum/cli": `^${version}`, ...tools },
    // It comes with tsx, and needs no script to work.
    allowScripts: { esbuild: false },
  };
}

const tsconfig = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023"],
    module: "NodeNext",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ["src", "test"],
};

const tsconfigBuild = {
  extends: "./tsconfig.json",
  compilerOptions: { noEmit: false, rootDir: "src", outDir: "dist" },
  include: ["src"],
};

function toConfig(server: string, template: TemplateName): object {
  const entry =
    template === "http"
      ? { type: "http", url: "http://127.0.0.1:3000/mcp" }
      : { type: "stdio", command: "npx", args: ["--no-install", "plenum", "run", "src/server.ts"] };
  return { mcpServers: { [server]: entry } };
}

function fullServer(server: string): string {
  return `// The server: what it has. main.ts serves it; the tests connect to it in memory.
import { createServer, ToolError } from "plenum";
import { z } from "zod";

export const server = createServer({
  name: ${JSON.stringify(server)},
  version: "0.1.0",
  instructions: "Counts words. Use count_words before you judge whether a text is too long.",
});

server.tool(
  "count_words",
  {
    title: "Count words",
    description: "Counts the words and characters of a text, and says how long it takes to read",
    input: z.object({
      text: z.string().describe("The text"),
      wordsPerMinute: z.number().int().min(1).optional().describe("How fast it is read; 200 if it is not given"),
    }),
    output: z.object({ words: z.number(), characters: z.number(), minutes: z.number() }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ text, wordsPerMinute = 200 }) => {
    const words = text.split(/\\s+/).filter(Boolean).length;
    // What a model should read, and can do something about, is a ToolError. Any other error is hidden from it.
    if (words === 0) throw new ToolError("There is no word in the text.");
    return { words, characters: text.length, minutes: words / wordsPerMinute };
  },
);

const guides: { readonly [topic: string]: string } = {
  brevity: "Leave out every word that the reader does not miss.",
  tone: "Write as you would speak to a friend who is in a hurry.",
};

server.resource(
  "guide://{topic}",
  {
    name: "guide",
    description: "How to write well: brevity, tone",
    complete: { topic: (typed) => Object.keys(guides).filter((topic) => topic.startsWith(typed)) },
  },
  // Undefined: there is no such resource.
  ({ topic }) => (Object.hasOwn(guides, topic) ? guides[topic] : undefined),
);

server.prompt(
  "shorten",
  {
    description: "Asks for a shorter text",
    arguments: z.object({
      text: z.string().describe("The text to shorten"),
      words: z.string().optional().describe("How many words it may have; 100 if it is not given"),
    }),
  },
  ({ text, words = "100" }) => \`Shorten this text to at most \${words} words:\\n\\n\${text}\`,
);
`;
}

function minimalServer(server: string): string {
  return `// The server: plenum run src/server.ts serves it.
import { createServer } from "plenum";
import { z } from "zod";

export const server = createServer({ name: ${JSON.stringify(server)}, version: "0.1.0" });

server.tool(
  "add",
  {
    title: "Add",
    description: "Adds two numbers",
    input: z.object({ a: z.number().describe("The first"), b: z.number().describe("The second") }),
    output: z.object({ sum: z.number() }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ a, b }) => ({ sum: a + b }),
);
`;
}

const stdioMain = `#!/usr/bin/env node
// Serves on stdin and stdout: a host starts this program. What is printed with console.log goes to stderr.
import { serveStdio } from "plenum/stdio";
import { server } from "./server.ts";

serveStdio(server);
`;

const httpMain = `// Serves over HTTP, to this machine alone. See the options of serveHttp before you open it to others.
import { serveHttp } from "plenum/http/node";
import { server } from "./server.ts";

const http = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(\`Listening on \${http.url}\`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void http.close());
`;

function fullTest(server: string): string {
  return `// The server as a client sees it, in this process: no port, no child process.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createTestClient, type TestClient } from "plenum/testing";
import { server } from "../src/server.ts";

let client: TestClient;
before(async () => {
  client = await createTestClient(server);
});
after(() => client.close());

test("it says who it is", () => {
  assert.equal(client.server.info?.name, ${JSON.stringify(server)});
});

test("count_words counts", async () => {
  const { structured } = await client.callTool("count_words", { text: "one two  three", wordsPerMinute: 3 });
  assert.deepEqual(structured, { words: 3, characters: 14, minutes: 1 });
});

test("count_words tells the model what is wrong", async () => {
  const { isError, text } = await client.callTool("count_words", { text: " " });
  assert.equal(isError, true);
  assert.match(text, /no word/);
});

test("guides can be read, and found by completion", async () => {
  const { contents } = await client.readResource("guide://brevity");
  assert.ok(contents[0] && "text" in contents[0] && contents[0].text.includes("Leave out"));
  await assert.rejects(client.readResource("guide://nothing"), { code: "resource_not_found" });
  const template = { type: "ref/resource", uri: "guide://{topic}" } as const;
  const { values } = await client.complete(template, { name: "topic", value: "b" });
  assert.deepEqual(values, ["brevity"]);
});

test("shorten puts the text into the prompt", async () => {
  const { messages } = await client.getPrompt("shorten", { text: "A long story", words: "2" });
  assert.match(JSON.stringify(messages), /at most 2 words.*A long story/);
});

test("clients of the first revision are served too", async () => {
  const old = await createTestClient(server, { revision: "2024-11-05" });
  assert.equal((await old.callTool("count_words", { text: "one" })).isError, false);
  await old.close();
});
`;
}

const minimalTest = `// The server as a client sees it, in this process: no port, no child process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestClient } from "plenum/testing";
import { server } from "../src/server.ts";

test("add adds", async () => {
  const client = await createTestClient(server);
  const { structured } = await client.callTool("add", { a: 1, b: 2 });
  assert.deepEqual(structured, { sum: 3 });
  await client.close();
});
`;

function toReadme(name: string, template: TemplateName): string {
  const tool = template === "minimal" ? "add a=1 b=2" : 'count_words text="one two three"';
  const lines = [
    ["npm test", "the tests, in memory"],
    ["npm run types", "the compiler's opinion"],
    ["npm run dev", "the server, loaded again when a file changes"],
    ["npx --no-install plenum list src/server.ts", "what it has"],
    ["npx --no-install plenum doctor src/server.ts", "what could be better"],
    [`npx --no-install plenum call src/server.ts ${tool}`, "one call"],
    ...(template === "minimal" ? [] : [["npm run build", "JavaScript, in dist"]]),
    ["npm start", template === "minimal" ? "serves it on stdio" : "serves what was built"],
  ] as const;
  const width = Math.max(...lines.map(([command]) => command.length));
  const table = lines.map(([command, what]) => `${command.padEnd(width)}  # ${what}`).join("\n");
  const hosts = [
    ...(template === "http"
      ? [
          "It is served at http://127.0.0.1:3000/mcp; `PORT` sets another port. `.mcp.json` tells hosts that open this folder.",
        ]
      : ["To add it to a host on this machine: `npx --no-install plenum install src/server.ts`."]),
    ...(template === "server" ? ["Hosts that read `.mcp.json` find it when they open this folder."] : []),
  ].join(" ");
  return `# ${name}

A server of the [Model Context Protocol](https://modelcontextprotocol.io), made with Plenum.

\`\`\`sh
npm install
${table}
\`\`\`

${hosts}

To see in a review what changes for those who use it, lock it once with \`npx --no-install plenum lock src/server.ts\`, commit
\`plenum.lock.json\`, and let CI run \`npx --no-install plenum lock src/server.ts --check\`.
`;
}
