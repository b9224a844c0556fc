// Takes out of a command's words what looks like a secret, before they are shown to anybody: messages end up in logs.
// It guesses, and rather takes out too much.

const mask = "***";
const secretName = "[\\w.-]*(?:key|token|secret|passw|passphrase|pwd|auth|credential)[\\w.-]*";
/** A flag whose value is the next word. */
const secretFlag = new RegExp(`^--?${secretName}$`, "i");
/** `NAME=`, `"name":` and `Name: `, and at the beginning of a word `Name:`; all that follows may belong to the value. */
const named = new RegExp(`(${secretName}(?:["']?\\s*=|["']\\s*:|:(?=\\s))|^${secretName}:(?!//)).+`, "is");
/** As far as the last `@`: who forgets to encode a password has slashes in it. */
const userInfo = /(\b[a-z][a-z\d+.-]*:\/\/)(?:[^\s/?#]*|[^\s/:@]*:\S*)@/gi;
const bearer = /\b(bearer|basic)\s+\S+/gi;

/** Words of a command that come after one another. */
export function maskWords(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const isValue = secretFlag.test(words[at - 1] ?? "") && !/^--[a-z]/i.test(word);
    return isValue && word !== "" ? mask : maskText(word);
  });
}

/** More than anybody is shown. The time that the search takes grows with the square of it. */
const maxLength = 1000;

/** Text that may be a command line by itself, such as what a shell is given. What is very long is cut. */
export function maskText(text: string): string {
  const short = text.slice(0, maxLength);
  const masked = short.replace(userInfo, `$1${mask}@`).replace(bearer, `$1 ${mask}`).replace(named, `$1${mask}`);
  const pieces = masked.split(/(\s+)/);
  if (pieces.length === 1) return maskRandom(masked);
  // Whitespace is at the odd places.
  const words = maskWords(pieces.filter((_, at) => at % 2 === 0));
  return pieces.map((piece, at) => (at % 2 === 0 ? (words[at / 2] as string) : piece)).join("");
}

function maskRandom(word: string): string {
  // Base64 has slashes as paths have them; a path has small letters only, or a dot.
  if (/^(?![./@])[\w+/=-]{20,}$/.test(word) && isMixed(word)) return mask;
  return word.replace(/[A-Za-z\d+=_-]{20,}/g, (run) => (isRandom(run) ? mask : run));
}

function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /\d/.test(text);
}

/** Names are words, joined by dashes, and versions; a key is one long piece of letters and digits. */
function isRandom(run: string): boolean {
  if (/^[\da-f-]+$/i.test(run) && /\d/.test(run)) return true;
  return (
    run.split(/[-_]/).some((piece) => piece.length >= 16 && /\d/.test(piece) && /[a-z]/i.test(piece)) || isMixed(run)
  );
}
