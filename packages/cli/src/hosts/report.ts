// What `install` and `uninstall` say of the changes they make, and making them.
import type { Output } from "../output.ts";
import { toHarmless } from "../output.ts";
import type { PlannedChange } from "./change.ts";

export interface ChangeReport {
  readonly name: string;
  readonly isDryRun: boolean;
  readonly output: Output;
  readonly verb: "install" | "uninstall";
}

/** Writes them, or shows what would be written. */
export async function showChanges(
  planned: readonly PlannedChange[],
  { name, isDryRun, output, verb }: ChangeReport,
): Promise<undefined> {
  const done = [];
  const texts: string[] = [];
  for (const change of planned) {
    const { host, path } = change.file;
    const base = { name, host: host.id, file: path };
    if (isDryRun) {
      const diff = await change.diff();
      done.push({ ...base, isChanged: diff !== "", diff });
      if (diff === "") output.note(`${host.title} has it already: nothing to change in ${toHarmless(path)}`);
      texts.push(toHarmless(diff));
      continue;
    }
    const { isChanged, backup } = await change.write();
    done.push({ ...base, isChanged, backup });
    const installed = `${change.wasThere ? "Updated" : "Installed"} ${name} in ${host.title}: ${path}`;
    const said = verb === "uninstall" ? `Removed ${name} from ${host.title}: ${path}` : installed;
    texts.push(toHarmless(isChanged ? said : `${host.title} has ${name} already: ${path}`));
  }
  output.result({ isDryRun, changes: done }, texts.filter((text) => text !== "").join("\n"));
  if (!isDryRun && done.some((one) => one.isChanged)) output.note("Start the host again, so that it reads its file.");
  return undefined;
}
