// What `plenum new` asks at a terminal for what was not given. On stderr: stdout is for results.
import { confirm, isCancel, select, text } from "@clack/prompts";
import { Failure } from "../failure.ts";
import { checkPackageName } from "./package-name.ts";
import { type TemplateName, templateNames, templateSummaries } from "./templates.ts";

const streams = { input: process.stdin, output: process.stderr };

export async function askFolder(): Promise<string> {
  const answer = await text({
    ...streams,
    message: "Where should the server be?",
    placeholder: "my-server",
    defaultValue: "my-server",
  });
  return orEnd(answer);
}

export async function askName(initialValue: string): Promise<string> {
  return orEnd(
    await text({
      ...streams,
      message: "What is it called?",
      initialValue,
      validate: (value) => checkPackageName(value ?? ""),
    }),
  );
}

export async function askTemplate(): Promise<TemplateName> {
  const answer = await select<TemplateName>({
    ...streams,
    message: "What should be in it?",
    options: templateNames.map((value) => ({ value, label: value, hint: templateSummaries[value] })),
  });
  return orEnd(answer);
}

export async function askReplace(folder: string, taken: readonly string[]): Promise<boolean> {
  const replaced = taken.length > 0 ? ` These are replaced: ${taken.join(", ")}.` : "";
  const message = `${folder} is not empty. Write into it all the same?${replaced}`;
  return orEnd(await confirm({ ...streams, message, initialValue: false }));
}

function orEnd<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new Failure("interrupted", "Cancelled", { hint: "Nothing was written." });
  return answer as Exclude<T, symbol>;
}
