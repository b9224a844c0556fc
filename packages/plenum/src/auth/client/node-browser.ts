// Opens a page in the browser of the desktop. Never by way of a shell: the address is somebody else's word (CVE-2025-6514).
import { spawn } from "node:child_process";
import { env, platform } from "node:process";
import { toSafeUrl } from "../guarded-fetch.ts";
import { OAuthError } from "../oauth-error.ts";

/** How long an opener may take to say that it cannot. Some stay for as long as the browser does. */
const doubtMs = 2000;

/** The program that opens a URL, and how it is given one: as one argument. */
export function toOpener(href: string, system: string = platform): readonly [command: string, ...args: string[]] {
  // By their full names where these are known: Windows looks into the current folder before any other.
  if (system === "darwin") return ["/usr/bin/open", href];
  // Not `cmd /c start`, which reads its argument once more.
  if (system === "win32")
    return [`${env.SystemRoot ?? "C:\\Windows"}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler", href];
  return ["xdg-open", href];
}

/**
 * As it is given to a program. Throws an OAuthError, `unsafe_url`, for what is no https URL, nor http on this machine, and for
 * what has letters that no URL needs.
 */
export function toOpenable(url: URL): string {
  const { href } = toSafeUrl(url.href);
  if (!/^[!#-;=?-[\]_a-~]+$/.test(href))
    throw new OAuthError("unsafe_url", "The address of the page is not written as URLs are");
  // An opener may be a script that hands its argument on in quotes, to be read again: nothing may end these or begin a command.
  return href.replace(/[$'()]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

/**
 * Whether the browser was opened, as far as can be told within two seconds: false where there is nothing that opens it.
 * Rejects with an OAuthError, `unsafe_url`, for what is no https URL, nor http on this machine.
 */
export async function openBrowser(url: URL): Promise<boolean> {
  const [command, ...args] = toOpener(toOpenable(url));
  const child = spawn(command, args, { stdio: "ignore", detached: true, shell: false });
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), doubtMs);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once("error", () => end(false));
    child.once("exit", (code) => end(code === 0));
  });
}
