// `plenum install`: puts a server into the files of hosts.
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { hostAliases, hostIds } from "../hosts/entry.ts";

const options = {
  name: {
    kind: "text",
    short: "n",
    value: "NAME",
    summary: "What the host calls it",
    fallback: "that of the package, else of the file or its folder",
  },
  "env-var": {
    kind: "list",
    short: "v",
    value: "KEY=VALUE",
    summary: "A variable for the server; @env:NAME, @file:PATH and @keychain:NAME are references",
  },
  "env-file": { kind: "text", short: "f", value: "FILE", summary: "A file of variables, such as .env; --env-var wins" },
  header: { kind: "list", short: "H", value: "NAME:VALUE", summary: "A header for a server at a URL" },
  host: {
    kind: "list",
    value: "HOST",
    choices: hostIds,
    aliases: hostAliases,
    summary: "The host; may be given again for more of them",
    fallback: "claude-desktop",
  },
  project: { kind: "flag", summary: "Write the host's file of this project, not the user's" },
  force: { kind: "flag", summary: "Replace an entry of that name that is another server's, with its variables" },
  dev: { kind: "flag", summary: "Install it as plenum dev: it reloads when you change it" },
  "dry-run": { kind: "flag", summary: "Show what would change, and write nothing" },
} as const;

export const command = defineCommand({
  name: "install",
  summary: "Put a server into Claude Desktop, Cursor, VS Code and other hosts",
  description: [
    "Writes the server into the host's own file. The host then starts it with the Node that runs now and with this plenum, both by their absolute paths, because hosts see next to nothing of your PATH.",
    "A server is a file that exports one, a URL, or a command after --.",
    "Everything else in the file stays as it is, comments too. If the server is there already, its variables are kept and new ones win. An entry of that name that starts something else is left alone, unless --force is given: then it is replaced, and nothing of it is kept. The file is replaced in one step, and the one before is kept beside it as NAME.plenum.bak. A file that cannot be read is left alone.",
    "Secrets are best given by reference: @keychain:NAME is looked up in the keychain of the system when the server starts (plenum secret set NAME puts it there), @file:PATH in a file, @env:NAME in the environment of the host. Then the host's file holds no secret.",
  ],
  arguments: [{ name: "SERVER", summary: "a file such as server.ts or server.ts:name, or a URL", isOptional: true }],
  options,
  examples: [
    { command: "plenum install server.ts", summary: "Into Claude Desktop" },
    {
      command: "plenum install server.ts --name weather --host cursor --host vscode -v API_KEY=@keychain:weather",
      summary: "Into two hosts, with a secret from the keychain",
    },
    {
      command: "plenum install server.ts --host claude-code --project --dry-run",
      summary: "See what would change first",
    },
    {
      command: "plenum install --name files --host cursor -- npx -y @modelcontextprotocol/server-filesystem .",
      summary: "A command",
    },
  ],
  async run({ arguments: { SERVER }, options: given, rest, output }) {
    const [
      { toInstallation, warnOfSecrets },
      { findPlace },
      { findFiles, planChange },
      { mergeEntry },
      { isDisabled, toRecord },
      { describeRecord },
    ] = await Promise.all([
      import("../hosts/installation.ts"),
      import("../hosts/place.ts"),
      import("../hosts/change.ts"),
      import("../hosts/form.ts"),
      import("../hosts/record.ts"),
      import("../hosts/hidden.ts"),
    ]);
    const place = findPlace();
    const { name, record, isSame } = await toInstallation(SERVER, rest, given);
    const files = findFiles(given.host.length > 0 ? given.host : ["claude-desktop"], given.project, place);
    warnOfSecrets(record, output);
    // All are planned before one is written: where one cannot be, none is.
    const planned = [];
    for (const file of files) {
      const { form, title } = file.host;
      if (record.kind === "url" && !form.toUrl) {
        throw new Failure("usage", `${title} has no servers at URLs in its file`, {
          code: "no_remote_entry",
          hint: `Add it in its settings, under Connectors, or install a bridge: plenum install --name ${name} -- npx -y mcp-remote ${SERVER}`,
        });
      }
      const change = await planChange(file, name, (_, existing) => {
        const fresh = record.kind === "url" ? form.toUrl?.(name, record) : form.toCommand(name, record);
        const there = existing === undefined ? undefined : toRecord(existing);
        const isOther = there !== undefined && !isSame(there);
        if (isOther && !given.force) throw toTaken(title, name, describeRecord(there));
        return mergeEntry(form, isOther ? undefined : existing, fresh ?? {});
      });
      if (isDisabled(change.wanted)) output.warn(`${name} is disabled in ${title}, and stays so.`);
      planned.push(change);
    }
    const { showChanges } = await import("../hosts/report.ts");
    return showChanges(planned, { name, isDryRun: given["dry-run"], output, verb: "install" });
  },
});

function toTaken(title: string, name: string, what: string): Failure {
  return new Failure("usage", `${title} has another server that is called "${name}": ${what}`, {
    code: "name_taken",
    hint: "Give this one another name with --name OTHER, or replace that one, its variables too, with --force.",
  });
}
