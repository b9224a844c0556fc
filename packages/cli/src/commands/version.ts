// `plenum version`: of what, and which revisions.
import { defineCommand } from "../command.ts";
import { version } from "../identity.ts";
import { revisionNames } from "../session.ts";

export const command = defineCommand({
  name: "version",
  summary: "Show the version and the revisions of MCP it speaks",
  description: [
    "Shows the version of Plenum, of Node, and the revisions of the Model Context Protocol that it speaks, newest first. `plenum --version` shows the first alone, and faster.",
  ],
  arguments: [],
  options: {},
  examples: [{ command: "plenum version", summary: "What is installed here" }],
  async run({ output }) {
    const revisions = [...revisionNames];
    const text = `plenum ${version}\nnode ${process.versions.node}\nrevisions ${revisions.join(" ")}`;
    output.result({ plenum: version, node: process.versions.node, revisions }, text);
    return undefined;
  },
});
