// `plenum types`: TypeScript from a live server.
import { defineCommand } from "../command.ts";
import { exitCodes, Failure } from "../failure.ts";
import { sessionOptions } from "../session.ts";

export const command = defineCommand({
  name: "types",
  summary: "Write TypeScript types and a typed client for a server",
  description: [
    'Asks a server for its tools, prompts and resource templates, and writes a TypeScript file with a type for what each takes and gives, with the descriptions as comments, and a client that knows them by name: client.call("add", { a: 1, b: 2 }). The client is built on connect of the package plenum.',
    "The file is the same for the same server, so that it can be kept in version control. With --check nothing is written, and the exit code is 6 where the file is not what would be written now.",
    "What a type cannot say, such as formats and bounds, stands in comments; what the server does not say is unknown. Names and descriptions are the server's: they become types, string literals and comments, and never code.",
  ],
  arguments: [{ name: "TARGET", summary: "the server" }],
  options: {
    output: { kind: "text", short: "o", value: "FILE", summary: "The file; - is stdout", fallback: "stdout" },
    name: {
      kind: "text",
      value: "NAME",
      summary: "The name of the client's type",
      fallback: "made of the server's name, such as WeatherClient",
    },
    check: { kind: "flag", summary: "Write nothing; exit with 6 where FILE is stale" },
    ...sessionOptions,
  },
  examples: [
    { command: "plenum types src/server.ts", summary: "Print the types of the server in a file" },
    {
      command: "plenum types https://example.com/mcp -o src/weather.ts --name WeatherClient",
      summary: "Write them to a file",
    },
    { command: "plenum types src/server.ts -o src/client.ts --check", summary: "In CI: are they still right?" },
  ],
  async run(invocation) {
    const { options, output } = invocation;
    const { check, name, output: file = "-" } = options;
    assertName(name);
    if (check && file === "-") {
      throw new Failure("usage", "--check needs a file to look at", { hint: "Name it with -o FILE." });
    }
    const [{ askSurface }, typing, files] = await Promise.all([
      import("../surface/side.ts"),
      import("../typing/client-file.ts"),
      import("../surface/own-file.ts"),
    ]);
    const surface = await askSurface(invocation);
    const text = typing.formatClientFile(surface, { name, command: formatCommand(invocation) });
    const { tools, prompts, resourceTemplates } = surface;
    const value = {
      file: file === "-" ? null : file,
      client: name ?? typing.toClientName(surface),
      counts: { tools: tools.length, prompts: prompts.length, templates: resourceTemplates.length },
    };
    if (check) {
      const there = await files.readIfThere(file);
      if (there !== undefined && typing.isSameFile(there, text)) {
        output.note(`${file} is up to date.`);
        output.result({ ...value, isFresh: true }, "");
        return undefined;
      }
      const message = there === undefined ? `There is no ${file}` : `${file} is stale: the server is another now`;
      output.badResult({ ...value, isFresh: false }, "", {
        code: "types_stale",
        exitCode: exitCodes.problems,
        message,
      });
      output.note(`${message}. Without --check it is written.`);
      return exitCodes.problems;
    }
    if (file === "-") {
      if (output.isJson) output.result({ ...value, text }, "");
      else output.raw(text);
      return undefined;
    }
    await files.writeOwn(file, text, (there) => there.startsWith(typing.firstLine));
    output.note(`Wrote ${file}: import { create${value.client} } from it.`);
    output.result(value, "");
    return undefined;
  },
});

function assertName(name: string | undefined): void {
  if (name === undefined || /^[A-Z][A-Za-z0-9]{0,79}$/.test(name)) return;
  throw new Failure("usage", `--name "${name}" is no name for a type`, {
    code: "invalid_name",
    hint: "It begins with a capital and has letters and digits: WeatherClient.",
  });
}

/** As typed, but for what may be secret or is of this machine alone: queries of URLs, command lines, absolute paths. */
function formatCommand(invocation: {
  readonly arguments: { readonly [name: string]: string | undefined };
  readonly rest: readonly string[] | undefined;
  readonly options: { readonly output: string | undefined; readonly name: string | undefined };
}): string {
  const { TARGET = "" } = invocation.arguments;
  const { output: file, name } = invocation.options;
  const words = [
    ...(file === undefined || file === "-" ? [] : ["-o", quote(withoutFolder(file))]),
    ...(name === undefined ? [] : ["--name", name]),
  ];
  if (invocation.rest) return [...words, "-- COMMAND"].join(" ");
  const isUrl = /^https?:/i.test(TARGET);
  const { origin = "", pathname = "" } = isUrl ? new URL(TARGET) : {};
  return [isUrl ? origin + pathname : quote(withoutFolder(TARGET)), ...words].join(" ");
}

function withoutFolder(path: string): string {
  return path.replace(/^(~|[a-z]:)?[\\/].*[\\/]/i, "");
}

/** As a shell takes it as one word. */
function quote(word: string): string {
  return /^[\w@%+=:,./~\\-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
