// Reads the official JSON Schema test suite, fetching it first if it is not there yet.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonSchema } from "plenum/schema";

export interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: JsonSchema | boolean;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

export const folder: string = fileURLToPath(new URL("../../.cache/json-schema-suite", import.meta.url));

export async function prepareSuite(): Promise<void> {
  if (existsSync(folder)) return;
  const script: { fetchSuite(to: string): Promise<void> } = await import(
    new URL("../../scripts/fetch-json-schema-suite.mjs", import.meta.url).href
  );
  await script.fetchSuite(folder);
}

export function readGroups(draft: "draft2020-12" | "draft7"): Group[] {
  const from = join(folder, "tests", draft);
  return readdirSync(from)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .flatMap((file) =>
      (JSON.parse(readFileSync(join(from, file), "utf8")) as Omit<Group, "file">[]).map((group) => ({
        file,
        ...group,
      })),
    );
}

/** The documents that the suite's remote references lead to, and the meta-schemas, by URI. */
export function readDocuments(): Record<string, JsonSchema | boolean> {
  const documents: Record<string, JsonSchema | boolean> = {};
  const list = (path: string) =>
    readdirSync(join(folder, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  for (const path of list("remotes")) {
    const name = path.slice(join(folder, "remotes").length).replaceAll("\\", "/");
    documents[`http://localhost:1234${name}`] = JSON.parse(readFileSync(path, "utf8"));
  }
  for (const path of list("metaschemas")) {
    const schema: JsonSchema = JSON.parse(readFileSync(path, "utf8"));
    documents[String(schema.$id)] = schema;
  }
  return documents;
}
