// `plenum uninstall`: takes a server out of the files of hosts.
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { hostAliases, hostIds } from "../hosts/entry.ts";
import { toHarmless } from "../output.ts";

export const command = defineCommand({
  name: "uninstall",
  summary: "Take a server out of a host",
  description: [
    "Removes the entry of that name from the host's file. Everything else stays as it is, comments too, and the file as it was is kept beside it as NAME.plenum.bak.",
    "plenum hosts shows which host has which servers.",
  ],
  arguments: [{ name: "NAME", summary: "what the host calls the server" }],
  options: {
    host: {
      kind: "list",
      value: "HOST",
      choices: hostIds,
      aliases: hostAliases,
      summary: "The host; may be given again for more of them",
      fallback: "claude-desktop",
    },
    project: { kind: "flag", summary: "From the host's file of this project, not the user's" },
    "dry-run": { kind: "flag", summary: "Show what would change, and write nothing" },
  },
  examples: [
    { command: "plenum uninstall weather", summary: "From Claude Desktop" },
    { command: "plenum uninstall weather --host cursor --dry-run", summary: "See what would change first" },
  ],
  async run({ arguments: { NAME = "" }, options, output }) {
    const [{ findPlace }, { findFiles, planChange }, { readHostFile }, { nearestTo }] = await Promise.all([
      import("../hosts/place.ts"),
      import("../hosts/change.ts"),
      import("../hosts/survey.ts"),
      import("plenum/util/nearest"),
    ]);
    const place = findPlace();
    const files = findFiles(options.host.length > 0 ? options.host : ["claude-desktop"], options.project, place);
    const planned = [];
    for (const file of files) {
      const change = await planChange(file, NAME, () => undefined);
      if (!change.wasThere) {
        // Those for one folder are in the same file, and are not removed by name alone.
        const names = (await readHostFile(file, { ...place, cwd: "" })).map((entry) => entry.name);
        const near = nearestTo(NAME, names);
        throw new Failure("usage", `${file.host.title} has no server "${NAME}" in ${file.path}`, {
          code: "no_entry",
          data: { names },
          hint: near
            ? `Did you mean "${toHarmless(near)}"?`
            : names.length > 0
              ? `It has ${names.map(toHarmless).join(", ")}.`
              : "It has none.",
        });
      }
      planned.push(change);
    }
    const { showChanges } = await import("../hosts/report.ts");
    return showChanges(planned, { name: NAME, isDryRun: options["dry-run"], output, verb: "uninstall" });
  },
});
