// `plenum new`: a server of one's own, with a test, ready to run.
import { basename, relative, resolve } from "node:path";
import { defineCommand, type OptionValues } from "../command.ts";
import { Failure } from "../failure.ts";
import { version } from "../identity.ts";
import type { Output } from "../output.ts";
import type { TemplateName } from "../scaffold/templates.ts";

const options = {
  template: {
    kind: "text",
    short: "t",
    value: "NAME",
    choices: ["server", "http", "minimal"],
    summary: "What it begins with",
    fallback: "server",
  },
  name: { kind: "text", short: "n", value: "NAME", summary: "The name of the package", fallback: "that of the folder" },
  force: { kind: "flag", summary: "Write into a folder that is not empty, and replace files that are there" },
  "no-install": { kind: "flag", summary: "Do not install what it depends on" },
  git: { kind: "flag", summary: "Make it a git repository" },
  yes: { kind: "flag", short: "y", summary: "Ask nothing" },
} as const;

export const command = defineCommand({
  name: "new",
  summary: "Begin a server in TypeScript, with a test",
  description: [
    "Writes a small server that runs: package.json, a strict tsconfig.json, src/server.ts with a tool, a resource and a prompt, a test that connects to it in memory, a README and .mcp.json, by which hosts that open the folder find it. Then installs what it depends on, with the package manager that started this program, or npm.",
    "The template server is started by hosts on this machine, on stdio. http serves the same over HTTP. minimal is one tool and one test. Whatever you take, the server itself is the same kind of thing, and can be served either way later.",
    "At a terminal it asks for what is missing. A folder that is not empty is left alone unless --force is given, and no file is replaced without a word.",
  ],
  arguments: [{ name: "DIR", summary: "the folder, which is made if it is not there", isOptional: true }],
  options,
  examples: [
    { command: "plenum new my-server", summary: "A server in a new folder" },
    { command: "plenum new . --template http --git", summary: "One over HTTP, in the folder you are in, under git" },
    { command: "plenum new tools/adder -t minimal --name adder --no-install --yes", summary: "In a script" },
  ],
  async run({ options: given, arguments: named, output, signal }) {
    const [{ formatTemplate }, folders] = await Promise.all([
      import("../scaffold/templates.ts"),
      import("../scaffold/folder.ts"),
    ]);
    const plan = await toPlan(given, named.DIR, output);
    const files = formatTemplate(plan);
    const state = folders.lookAt(plan.folder, files.keys());
    const isForced = given.force || (plan.isAsking && !state.isEmpty && (await askReplace(plan.shown, state.taken)));
    folders.assertWritable(plan.shown, state, isForced);
    folders.writeFiles(plan.folder, files, state.taken);
    for (const path of state.taken) output.warn(`Replaced ${path}`);
    output.note(`Wrote ${files.size} files of the template ${plan.template} into ${plan.shown}.`);
    const tools = await import("../scaffold/tools.ts");
    if (given.git) {
      const problem = await tools.runTool("git", ["init", "--quiet"], plan.folder, signal);
      if (problem !== undefined) output.warn(`It is no git repository: ${problem.message}`);
    }
    const manager = tools.findManager();
    if (!given["no-install"]) {
      output.note(`Installing with ${manager} …`);
      const problem = await tools.runTool(manager, ["install"], plan.folder, signal);
      signal.throwIfAborted();
      if (problem) {
        if (tools.isUnreleased(problem)) throw toUnreleased(plan, manager);
        throw new Failure("usage", `The files are written, but what they need is not installed: ${problem.message}`, {
          code: "install_failed",
          hint: `Look at what it says above, then run "${manager} install" in ${plan.shown}.`,
        });
      }
    }
    const { folder, name, template } = plan;
    output.note(formatNext(plan, manager, given["no-install"]));
    output.result({ folder, name, template, files: [...files.keys()], isInstalled: !given["no-install"] }, "");
    return undefined;
  },
});

interface Plan {
  /** Absolute. */
  readonly folder: string;
  /** As people write it. */
  readonly shown: string;
  readonly name: string;
  readonly template: TemplateName;
  readonly isAsking: boolean;
}

/** What was given, and what is asked for. Throws a Failure for a name that npm does not take. */
async function toPlan(given: OptionValues<typeof options>, dir: string | undefined, output: Output): Promise<Plan> {
  const isAsking = output.canAsk && !given.yes;
  const { checkPackageName, suggestPackageName, toServerName } = await import("../scaffold/package-name.ts");
  const problem = given.name === undefined ? undefined : checkPackageName(given.name);
  if (problem !== undefined) throw toBadName(problem, suggestPackageName(given.name ?? ""));
  let wanted = dir ?? (given.name === undefined ? undefined : toServerName(given.name));
  if (wanted === undefined && isAsking) wanted = await (await import("../scaffold/questions.ts")).askFolder();
  if (wanted === undefined) {
    throw new Failure("usage", "new needs DIR, the folder to write into", {
      code: "missing_argument",
      hint: "Such as: plenum new my-server",
    });
  }
  const folder = resolve(wanted);
  const name = given.name ?? (await nameOf(folder, isAsking, suggestPackageName, checkPackageName));
  const asked =
    given.template ?? (isAsking ? await (await import("../scaffold/questions.ts")).askTemplate() : "server");
  return { folder, shown: relative(process.cwd(), folder) || ".", name, template: asked as TemplateName, isAsking };
}

async function nameOf(
  folder: string,
  isAsking: boolean,
  suggest: (text: string) => string | undefined,
  check: (name: string) => string | undefined,
): Promise<string> {
  const own = basename(folder);
  const problem = check(own);
  if (problem === undefined) return own;
  const near = suggest(own);
  if (isAsking) return (await import("../scaffold/questions.ts")).askName(near ?? "my-server");
  throw toBadName(problem, near);
}

function toBadName(problem: string, near: string | undefined): Failure {
  return new Failure("usage", problem, {
    code: "invalid_name",
    hint: `Try: --name ${near ?? "my-server"}`,
    data: { suggestion: near },
  });
}

async function askReplace(shown: string, taken: readonly string[]): Promise<boolean> {
  return (await import("../scaffold/questions.ts")).askReplace(shown, taken);
}

function toUnreleased({ shown }: Plan, manager: string): Failure {
  const add = manager === "npm" ? "npm i" : `${manager} add`;
  const lines = [
    ...formatEnter(shown),
    `${add} /path/to/plenum-${version}.tgz /path/to/plenum-cli-${version}.tgz`,
    `${manager} test`,
  ];
  return new Failure(
    "usage",
    "The files are written, but what they need is not installed: there is no release of plenum in the registry yet",
    {
      code: "unreleased",
      hint: `In a clone of Plenum's repository, make the packages: npm ci && npm run build && npm pack -w plenum -w @plenum/cli\nThen install them, by the path of the clone:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    },
  );
}

function formatEnter(shown: string): string[] {
  return shown === "." ? [] : [`cd ${/^[\w./-]+$/.test(shown) ? shown : JSON.stringify(shown)}`];
}

function formatNext({ shown, template }: Plan, manager: string, isLeft: boolean): string {
  const call = template === "minimal" ? "add a=1 b=2" : 'count_words text="one two three"';
  const lines = [
    ...formatEnter(shown),
    ...(isLeft ? [`${manager} install`] : []),
    `${manager} test`,
    `npx --no-install plenum call src/server.ts ${call}`,
    `${manager} run dev`,
  ];
  return `\nNext:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
