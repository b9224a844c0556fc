// `plenum hosts`: which hosts are on this machine, and which servers they have.
import { existsSync } from "node:fs";
import { defineCommand } from "../command.ts";
import { exitCodes, Failure } from "../failure.ts";
import { toHarmless } from "../output.ts";

export const command = defineCommand({
  name: "hosts",
  summary: "Show the hosts on this machine and their servers",
  description: [
    "Looks for the files of the hosts that plenum knows, those of this project too, and lists the servers in them: what starts them, or where they are. Values of variables and headers are not shown, nor queries of URLs.",
    "Each of them can be called by its name: plenum list cursor:weather. A file that cannot be read is named; then the exit code is 6.",
  ],
  arguments: [],
  options: { all: { kind: "flag", summary: "Also name the hosts that are not on this machine" } },
  examples: [
    { command: "plenum hosts", summary: "What is here" },
    { command: "plenum hosts --json", summary: "The same for a script" },
  ],
  async run({ options, output }) {
    const [{ findPlace }, survey, { hosts }, { describeRecord, hideUrl }] = await Promise.all([
      import("../hosts/place.ts"),
      import("../hosts/survey.ts"),
      import("../hosts/table.ts"),
      import("../hosts/hidden.ts"),
    ]);
    const place = findPlace();
    const { paint } = output;
    let isBroken = false;
    const lines: string[] = [];
    const found = [];
    for (const host of hosts) {
      const isThere = survey.isInstalled(host, place);
      const files = [];
      for (const file of survey.listFiles(host, place)) {
        if (!existsSync(file.path)) continue;
        try {
          const entries = await survey.readHostFile(file, place);
          const servers = entries.map(({ name, record, isDisabled }) => ({
            name,
            ...(record.kind === "url" ? { url: hideUrl(record.url) } : {}),
            ...(record.kind === "command"
              ? { command: describeRecord(record), variables: Object.keys(record.env) }
              : {}),
            isDisabled,
          }));
          files.push({ path: file.path, scope: file.scope, servers });
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          isBroken = true;
          files.push({ path: file.path, scope: file.scope, servers: [], problem: error.message });
        }
      }
      if (!isThere && files.length === 0 && !options.all) continue;
      found.push({ id: host.id, title: host.title, isInstalled: isThere, files });
      // Without the host there may be a file that a project brings for it.
      const absent = files.length > 0 ? "not installed; project file" : "not found";
      lines.push(`${paint("bold", host.title)}  ${paint("dim", isThere ? host.id : `${host.id}, ${absent}`)}`);
      for (const { path, servers, problem } of files) {
        lines.push(`  ${paint("dim", toHarmless(path))}`);
        if (problem !== undefined) lines.push(`    ${paint("red", "broken:")} ${toHarmless(problem)}`);
        for (const { name, url, command: words, isDisabled } of servers) {
          const what = url ?? words ?? "brought by the host";
          lines.push(
            `    ${toHarmless(name)}  ${paint("dim", toHarmless(what))}${isDisabled ? paint("yellow", "  disabled") : ""}`,
          );
        }
      }
    }
    output.result({ hosts: found }, lines.join("\n"));
    if (found.length === 0) output.note("No host that plenum knows is on this machine. plenum hosts --all names them.");
    return isBroken ? exitCodes.problems : undefined;
  },
});
