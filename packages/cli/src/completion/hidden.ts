// The words that the scripts of shells call, and people do not: `plenum __complete SHELL … -- WORD…`. Whatever is wrong, nothing
// is said: it would be printed into the line that somebody types.
import type { Completion, Sources } from "./complete.ts";

/** Whether the words are for us; then the process ends here. */
export async function runHidden(words: readonly string[]): Promise<void> {
  if (words[0] === "__names") {
    const { tellNames } = await import("./tell-names.ts");
    return tellNames();
  }
  try {
    process.stdout.on("error", () => process.exit());
    process.stdout.write(await answer(words.slice(1)));
  } catch {
    // Nothing to propose.
  }
}

const defaultSeconds = 2;

function sources(): Sources {
  const given = Number(process.env.PLENUM_COMPLETION_TIMEOUT || defaultSeconds);
  const timeoutMs = (Number.isFinite(given) ? given : defaultSeconds) * 1000;
  return {
    async askServer(kind, target, headers) {
      const { askServer } = await import("./ask-server.ts");
      return askServer({ kind, target, headers }, timeoutMs);
    },
    async listEntries(host) {
      const [{ toHostId }, { listHostServers }] = await Promise.all([
        import("../hosts/entry.ts"),
        import("../hosts/lookup.ts"),
      ]);
      return listHostServers(toHostId(host));
    },
  };
}

/** What the shell's script reads: a line for each candidate. */
async function answer(words: readonly string[]): Promise<string> {
  const end = words.indexOf("--");
  const [shell, ...more] = words.slice(0, Math.max(0, end));
  const typed = words.slice(end + 1);
  const { complete } = await import("./complete.ts");
  const { fromBash, unquote } = await import("./shell-words.ts");
  // In PowerShell a backslash is a letter.
  const unquoteLast = (word: string): string =>
    shell === "fish" ? unquote(word).text : word.replace(/^(["'])(.*?)\1?$/s, "$2");
  if (shell === "bash") {
    const line = fromBash(more[0] ?? "", typed);
    const { candidates, files } = await complete(line.words, sources());
    const all = [...candidates, ...(await listFiles(line.words.at(-1) ?? "", files))];
    return toLines(all.flatMap(({ value, isOpen = false }) => line.toReply(value, isOpen) ?? []));
  }
  const current = typed.at(-1) ?? "";
  const known = shell === "zsh" ? typed : [...typed.slice(0, -1), unquoteLast(current)];
  const { candidates, files } = await complete(known, sources());
  // These find files themselves, and better: by patterns, variables and `~`. Fish does not look behind quotes.
  const isOwn = shell === "zsh" || (shell === "fish" && /^~|[$*]/.test(current));
  const all = isOwn ? candidates : [...candidates, ...(await listFiles(known.at(-1) ?? "", files))];
  const lines = all.map(({ value, description = "" }) => `${value}\t${toPlain(description)}`);
  return toLines(isOwn && files ? [...lines, `:${files}`] : lines);
}

async function listFiles(current: string, files: Completion["files"]) {
  if (!files) return [];
  const { listFileNames } = await import("./file-names.ts");
  try {
    return listFileNames(current, files);
  } catch {
    return [];
  }
}

const toLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** A description without anything that a terminal would act on. */
function toPlain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ");
}
