// `plenum diff`: what changed from one surface to another, and whom it concerns.
import { defineCommand, type Invocation } from "../command.ts";
import { exitCodes } from "../failure.ts";
import { sessionOptions } from "../session.ts";
import type { Change } from "../surface/changes.ts";
import type { Surface } from "../surface/surface.ts";

const failOn = ["breaking", "additive", "wording", "none"] as const;

export const command = defineCommand({
  name: "diff",
  summary: "Compare two servers, or a server with its lock file",
  description: [
    "Says what changed, and for whom. Breaking: a tool, a parameter or a value is gone, something is required that was not, a type is narrower, an output may be what it never was, a tool no longer says that it only reads. Additive: something new that nobody need use. Wording: titles, descriptions, instructions.",
    "Wording is what models read and decide by: a changed description can change what an agent does as much as changed code. The texts are shown in full, with characters that are not seen made visible.",
    "Schemas are compared by what they mean, references resolved. Input that is refused now is breaking, input that is accepted now is additive. Of output it is the other way round: a value that is new in an enum of an output is breaking for who reads it, while a new property is additive. A default that changes is breaking. What the rules do not know is breaking where it differs.",
    "Each side is a lock file, - for a lock file on stdin, or a server. A server that is compared with a lock file is asked in the revision of that file. With --fail-on additive or wording, smaller changes make the exit code 6 too.",
  ],
  arguments: [
    { name: "OLD", summary: "a lock file, or a server" },
    { name: "TARGET", summary: "the new side: a server, or a lock file" },
  ],
  options: {
    "fail-on": {
      kind: "text",
      value: "CLASS",
      choices: failOn,
      summary: "The smallest change that makes the exit code 6",
      fallback: "breaking",
    },
    ...sessionOptions,
  },
  examples: [
    { command: "plenum diff plenum.lock.json src/server.ts", summary: "What would a release break?" },
    {
      command: "plenum diff plenum.lock.json -- node dist/main.js",
      summary: "The same, of a server that a command starts",
    },
    {
      command: "git show HEAD:plenum.lock.json | plenum diff - plenum.lock.json",
      summary: "What changed since the last commit",
    },
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const [{ compareSurfaces }, { countChanges, formatChanges, formatCounts, wordingAdvice }] = await Promise.all([
      import("../surface/changes.ts"),
      import("../surface/report.ts"),
    ]);
    const [before, after] = await readSides(invocation);
    const changes = compareSurfaces(before, after);
    const counts = countChanges(changes);
    const isBad = changes.some((one) => isGrave(one, options["fail-on"] ?? "breaking"));
    const summary = changes.length === 0 ? "Nothing changed" : `Changes: ${formatCounts(changes)}`;
    const value = { counts, changes, revisions: { old: before.revision, new: after.revision } };
    const text = formatChanges(changes, output.paint);
    if (isBad)
      output.badResult(value, text, { code: "surface_changed", exitCode: exitCodes.problems, message: summary });
    else output.result(value, text);
    output.note(changes.length === 0 ? `${summary}.` : `\n${summary}.`);
    if (counts.wording > 0) output.note(wordingAdvice);
    if (before.revision !== after.revision && changes.length > 0)
      output.warn(
        `They were taken in different revisions (${before.revision}, ${after.revision}): some changes may be due to that.`,
      );
    return isBad ? exitCodes.problems : undefined;
  },
});

async function readSides(invocation: Invocation<(typeof command)["options"]>): Promise<[old: Surface, now: Surface]> {
  const { askSurface, readSide } = await import("../surface/side.ts");
  const { OLD = "", TARGET = "" } = invocation.arguments;
  const old = await readSide(OLD);
  const now = invocation.rest ? undefined : await readSide(TARGET);
  // One after the other: two servers that start at once may want the same port or file.
  const before =
    old ?? (await askSurface({ ...invocation, arguments: { TARGET: OLD }, rest: undefined }, now?.revision));
  return [before, now ?? (await askSurface(invocation, old?.revision))];
}

function isGrave({ class: cls }: Change, limit: string): boolean {
  if (limit === "none") return false;
  const order: readonly string[] = ["wording", "additive", "breaking"];
  return order.indexOf(cls) >= order.indexOf(limit);
}
