// What looks like a secret: names whose values are not for everybody, and such values in text. It guesses, and rather takes
// out too much. The time that it takes grows with the length of the text and no faster.

/** What stands where a secret stood. */
export const redacted = "[redacted]";

const tellingParts =
  /passw|passphrase|passcode|secret|credential|apikey|accesskey|privatekey|authorization|cookie|bearer|accesstoken|authtoken|idtoken|refreshtoken/;
/** Whatever they end with. */
const plainParts = /sessionid|tokenvalue|clientassertion|codeverifier|connectionstring|cardnumber|pincode/;
const tellingWords = new Set("pass pwd pw auth jwt otp totp pin cvv cvc sid ssn dsn token tokens".split(" "));
const keyWords = new Set(
  "api access private secret signing encryption client master auth ssh session subscription account storage service app application license".split(
    " ",
  ),
);
/** What ends with one of these is about a secret and is none. */
const tameEnds = new Set(
  "url uri endpoint endpoints server servers type types name names id ids count length limit path file policy at in expiry required supported enabled hint".split(
    " ",
  ),
);
/** Tokens that lead to the next page, or to the request that progress is about. */
const tameTokens = new Set(
  "progress page next continuation sync max min total input output prompt completion".split(" "),
);

function toWords(name: string): string[] {
  const apart = name.replace(/([a-z\d])(?=[A-Z])/g, "$1 ");
  return apart
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
}

/** Longer names are none. */
const maxName = 100;

/** Whether what has this name is probably a secret: `password`, `apiKey`, `X-Auth-Token`, `DB_PASSWORD`. */
export function isSecretName(name: string): boolean {
  if (name.length > maxName) return false;
  const words = toWords(name);
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? "";
  if (plainParts.test(words.join(""))) return true;
  if (tameEnds.has(last) && words.length > 1) return false;
  if (last === "token" || last === "tokens") return !tameTokens.has(before);
  if (last === "key" || last === "keys") return keyWords.has(before);
  return tellingWords.has(last) || tellingParts.test(words.join(""));
}

/** In the query of a URL these are secrets too. */
const queryNames = new Set([
  "code",
  "key",
  "sig",
  "signature",
  "x-amz-signature",
  "x-goog-signature",
  "sid",
  "session",
]);

const schemes = /\b(bearer|basic|digest|dpop|negotiate)([ \t]+)([\w.~+/=-]{6,})/gi;
const userInfo = /(:\/\/)[^\s/?#@"'<>]{1,500}@/g;
const keyBlock = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g;
const knownForms = new RegExp(
  [
    "\\beyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*){0,3}", // a JSON Web Token
    "\\b(?:sk|pk|rk)[-_][\\w-]{16,}",
    "\\bgh[pousr]_\\w{20,}",
    "\\bgithub_pat_\\w{20,}",
    "\\bglpat-[\\w-]{16,}",
    "\\bxox[a-z]-[\\w-]{10,}",
    "\\b(?:AKIA|ASIA)[A-Z\\d]{16}\\b",
    "\\bAIza[\\w-]{30,}",
    "\\bnpm_\\w{30,}",
    "\\bhf_\\w{20,}",
    "\\bya29\\.[\\w-]{10,}",
  ].join("|"),
  "g",
);

/** A name, and what says that its value follows. The run is never tried in part, so that long ones cost no more. */
const named = /([\w-]+)(\\{0,8}["']?[ \t]{0,8}(?:=>|:=|[:=]|%3[AaDd])[ \t]{0,8}|[ \t]+|>)?/g;
const quoteMark = /\\{0,8}["']/y;
const bareValue = /[^\s,;&"'<>\\)}\]]+/y;
const restOfLine = /[^\r\n"]+/y;

/** The text without what looks like a secret in it: `password=…`, `"token": "…"`, `Bearer …`, keys of known forms. */
export function redactText(text: string, secrets: readonly string[] = []): string {
  let left = text;
  for (const secret of secrets) if (secret.length >= shortest) left = left.replaceAll(secret, redacted);
  left = left
    .replace(keyBlock, redacted)
    .replace(schemes, (whole, scheme: string, space: string, value: string) =>
      // "basic concepts" is prose: what is sent has a digit, a capital inside or a sign.
      /[\d+/=._~-]|[a-z][A-Z]/.test(value) ? `${scheme}${space}${redacted}` : whole,
    )
    .replace(userInfo, `$1${redacted}@`)
    .replace(knownForms, redacted);
  return redactNamed(left);
}

/** What is shorter is no secret, and taking it out would spoil every text. */
const shortest = 4;

function redactNamed(text: string): string {
  let done = "";
  let at = 0;
  named.lastIndex = 0;
  for (let match = named.exec(text); match; match = named.exec(text)) {
    const [whole, name = "", sign] = match;
    if (sign === undefined || !isSign(name, sign, text[match.index - 1])) continue;
    const isQuery = /[?&#]/.test(text[match.index - 1] ?? "");
    if (!isSecretName(name) && !(isQuery && queryNames.has(name.toLowerCase()))) continue;
    const start = match.index + whole.length;
    const [from, to] = findValue(text, start, /authorization|cookie/i.test(name));
    if (to === from || isCount(name, sign, text.slice(from, to))) continue;
    done += `${text.slice(at, from)}${redacted}`;
    at = to;
    named.lastIndex = to;
  }
  return done + text.slice(at);
}

/** A blank says something after a flag, `--token abc`, and a bracket after another, `<token>`. */
function isSign(name: string, sign: string, before: string | undefined): boolean {
  if (sign === ">") return before === "<";
  return sign.trim() !== "" || name.startsWith("--");
}

/** In prose "tokens: 512" and "pass: 5" are counts, and "auth: true" is a fact. */
function isCount(name: string, sign: string, value: string): boolean {
  return (
    !/["']/.test(sign) &&
    /^(?:\d{1,9}|true|false|null|none|yes|no)$/i.test(value) &&
    /(?:tokens?|pass|auth)$/i.test(name)
  );
}

/** Where the value begins and ends. One that is not quoted ends with the word, or with the line. */
function findValue(text: string, start: number, isLine: boolean): readonly [from: number, to: number] {
  quoteMark.lastIndex = start;
  const mark = quoteMark.exec(text)?.[0];
  if (mark !== undefined) {
    const from = start + mark.length;
    const end = text.indexOf(mark, from);
    // JSON inside a text: a quote that is escaped once more belongs to the value.
    return [from, end < 0 ? text.length : mark.length === 1 ? endOfQuoted(text, from, mark) : end];
  }
  const pattern = isLine ? restOfLine : bareValue;
  pattern.lastIndex = start;
  // What was taken out already stays as it is.
  if (text.startsWith(redacted, start)) return [start, start + redacted.length];
  return [start, start + (pattern.exec(text)?.[0].length ?? 0)];
}

function endOfQuoted(text: string, from: number, mark: string): number {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
