// One side of a comparison: a lock file, or a server that is asked now.
import { text as readAll } from "node:stream/consumers";
import { type SessionInvocation, withSession } from "../session.ts";
import { isLockText, parseLock, readLock } from "./lock.ts";
import { readIfThere } from "./own-file.ts";
import { ableClient, type Surface, takeSurface } from "./surface.ts";

/** Asks the invocation's TARGET, in the revision of the options or else in this one. */
export function askSurface(invocation: SessionInvocation, revision?: string): Promise<Surface> {
  const options = { ...invocation.options, revision: invocation.options.revision ?? revision };
  return withSession({ ...invocation, options }, ({ client }) => takeSurface(client, invocation.signal), ableClient);
}

/** The surface of the lock file that a word names: undefined where it names something else. `-` is stdin. */
export async function readSide(word: string): Promise<Surface | undefined> {
  if (word === "-") return parseLock(await readAll(process.stdin), "stdin");
  if (!/\.json$/i.test(word) || /^https?:/i.test(word)) return undefined;
  const text = await readIfThere(word);
  if (text === undefined) return readLock(word);
  // What is no lock may be a config file; that is for others to say.
  return isLockText(text) ? parseLock(text, word) : undefined;
}
