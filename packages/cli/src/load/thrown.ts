// What somebody else's code threw, in the words of a message: what it said, and the place in that code.
import { fileURLToPath } from "node:url";

/** What somebody's code threw: its message, and the first line of the stack that is in that code. */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = `${error.name === "Error" ? "" : `${error.name}: `}${error.message}`;
  const frame = firstFrame(error.stack ?? "");
  return frame ? `${said}\n  ${frame}` : said;
}

const ownFolder = fileURLToPath(new URL("..", import.meta.url));

/** The first line of a stack that is in somebody's own code: not in Node, an installed package or this program. */
function firstFrame(stack: string): string | undefined {
  return stack
    .split("\n")
    .map((line) => line.trim())
    .find(
      (line) =>
        line.startsWith("at ") &&
        !/\(?node:|[\\/]node_modules[\\/]|<anonymous>\)?$/.test(line) &&
        !line.includes(ownFolder),
    )
    ?.replace("file://", "")
    .replace(/\?again(?=:\d)/, "");
}
