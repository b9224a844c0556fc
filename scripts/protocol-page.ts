// Writes docs/protocol.md from the method table, the revisions and the errors; `--check` only says whether it is current.
import { readFileSync, writeFileSync } from "node:fs";
import { errorCodes, rowOf } from "../packages/plenum/src/protocol/errors.ts";
import { isIn, type Method, methods } from "../packages/plenum/src/protocol/methods.ts";
import { factsOf, revisions } from "../packages/plenum/src/protocol/revisions.ts";

const file = new URL("../docs/protocol.md", import.meta.url);

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

function methodRow(method: Method): string[] {
  const marks = revisions.map((revision) => (isIn(method, revision) ? "●" : ""));
  const notes = [method.asks && "may ask", method.cached && "cache hints"].filter(Boolean).join(", ");
  return [`\`${method.name}\``, method.from, method.needs ? `\`${method.needs}\`` : "", ...marks, notes];
}

const page = `<!-- Made by \`npm run docs\` from the tables in packages/plenum/src/protocol. Do not edit by hand. -->
# The protocol, as Plenum speaks it

## Revisions

${table(
  ["revision", "era", "batches", "bad tool arguments", "structured content", "resource not found"],
  revisions.map((revision) => {
    const { era, batches, badArguments, structured, notFound } = factsOf(revision);
    const bad = badArguments === "error" ? "error -32602" : "result with `isError`";
    return [revision, era, batches ? "yes" : "no", bad, structured, String(notFound)];
  }),
)}

## Methods

A dot marks the revisions that have a method. *Needs* is the receiver's capability without which it does not exist.
In 2026-07-28 the server's asks (sampling, elicitation, roots) travel inside results and are no messages of their own.

${(["request", "notification"] as const)
  .map((kind) => {
    const rows = methods.filter((method) => method.kind === kind).map(methodRow);
    return `### ${kind === "request" ? "Requests" : "Notifications"}\n\n${table(["method", "from", "needs", ...revisions, ""], rows)}`;
  })
  .join("\n\n")}

## Errors

What each code means and what to do about it is in [errors.md](errors.md).

${table(
  ["code", "JSON-RPC", "HTTP"],
  errorCodes.map((code) => [`\`${code}\``, String(rowOf(code).rpc ?? "–"), String(rowOf(code).http ?? "–")]),
)}
`;

if (process.argv.includes("--check")) {
  const current = readFileSync(file, "utf8") === page;
  if (!current) console.error("docs/protocol.md is not what the tables say: run `npm run docs`");
  process.exitCode = current ? 0 : 1;
} else {
  writeFileSync(file, page);
  console.log("docs/protocol.md written");
}
