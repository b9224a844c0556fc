// `plenum lock`: what a server shows, as a file to keep and to compare with.
import { existsSync } from "node:fs";
import { defineCommand } from "../command.ts";
import { exitCodes } from "../failure.ts";
import { escapeControls, type Output } from "../output.ts";
import { sessionOptions } from "../session.ts";
import type { Surface } from "../surface/surface.ts";

export const command = defineCommand({
  name: "lock",
  summary: "Write down all that a server shows, to see later what changed",
  description: [
    "Writes a lock file: the server's name, version and instructions, its capabilities, and every tool, resource, template and prompt with its schemas and descriptions, sorted, with a digest (SHA-256) of each. The same server gives the same file, so that it can be kept in version control and reviewed like code.",
    "A model decides by descriptions. A server that is updated, or one that means harm, can change them under an old name after you have agreed to it. With --check nothing is written: the server is compared with the file, and the exit code is 6 where they differ.",
    "What changes by itself is left out: cursors, times to live, sizes, dates, _meta. The server is asked as by a client that can be asked everything, so that what is locked does not depend on who runs this.",
    "The revision of MCP is written down, and --check asks in the same one: a Plenum server gives the same file in every revision, but for outputs that are no object (wrapped before 2026-07-28), icons (from 2025-11-25 on), titles and output schemas (from 2025-06-18 on), annotations and the capability to complete (from 2025-03-26 on). Other servers may do otherwise.",
  ],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: {
    output: { kind: "text", short: "o", value: "FILE", summary: "The file; - is stdout", fallback: "plenum.lock.json" },
    check: { kind: "flag", summary: "Write nothing; exit with 6 where the server is not as the file says" },
    ...sessionOptions,
  },
  examples: [
    { command: "plenum lock src/server.ts", summary: "Lock the server in a file; commit plenum.lock.json" },
    { command: "plenum lock src/server.ts --check", summary: "In CI: is it still what was reviewed?" },
    {
      command: "plenum lock -o memory.lock.json -- npx -y @modelcontextprotocol/server-memory",
      summary: "A server of somebody else's",
    },
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const [{ formatLock, isLockText, readLock, usualLockFile }, { writeOwn }, { askSurface }] = await Promise.all([
      import("../surface/lock.ts"),
      import("../surface/own-file.ts"),
      import("../surface/side.ts"),
    ]);
    const file = options.output ?? usualLockFile;
    if (options.check) {
      const locked = await readLock(file);
      return check(locked, await askSurface(invocation, locked.revision), file, output);
    }
    const surface = await askSurface(invocation);
    const text = formatLock(surface);
    if (file === "-") {
      output.raw(escapeControls(text));
      return undefined;
    }
    const before = existsSync(file) ? await readLock(file).catch(() => undefined) : undefined;
    await writeOwn(file, text, isLockText);
    await tellWritten(surface, before, file, output);
    return undefined;
  },
});

async function check(locked: Surface, surface: Surface, file: string, output: Output): Promise<number | undefined> {
  const [{ compareSurfaces }, { countChanges, formatChanges, formatCounts, wordingAdvice }] = await Promise.all([
    import("../surface/changes.ts"),
    import("../surface/report.ts"),
  ]);
  const changes = compareSurfaces(locked, surface);
  const counts = countChanges(changes);
  if (changes.length === 0) {
    output.note(`The server is as ${file} says.`);
    output.result({ file, isSame: true, revision: surface.revision, counts, changes }, "");
    return undefined;
  }
  const message = `The server is not as ${file} says: ${formatCounts(changes)}`;
  output.badResult(
    { file, isSame: false, revision: surface.revision, counts, changes },
    formatChanges(changes, output.paint),
    {
      code: "lock_differs",
      exitCode: exitCodes.problems,
      message,
    },
  );
  output.note(`\n${message}.`);
  if (counts.wording > 0) output.note(wordingAdvice);
  output.note("If that is right, lock again without --check, and review the change of the file.");
  return exitCodes.problems;
}

async function tellWritten(surface: Surface, before: Surface | undefined, file: string, output: Output): Promise<void> {
  const [{ compareSurfaces }, { formatCounts }, { digestOfSurface }] = await Promise.all([
    import("../surface/changes.ts"),
    import("../surface/report.ts"),
    import("../surface/lock.ts"),
  ]);
  const { tools, resources, resourceTemplates, prompts, revision } = surface;
  const changes = before && compareSurfaces(before, surface);
  const counts = {
    tools: tools.length,
    resources: resources.length,
    templates: resourceTemplates.length,
    prompts: prompts.length,
  };
  const what = Object.entries(counts).map(([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`);
  output.note(`Wrote ${file}: ${what.join(", ")}, in ${revision}.`);
  if (changes && changes.length > 0) output.note(`Since the file that was there: ${formatCounts(changes)}.`);
  output.result({ file, digest: digestOfSurface(surface), revision, counts, ...(changes && { changes }) }, "");
}
