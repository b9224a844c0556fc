// Assertions for the common values of `format`, to be given to `compileJsonSchema` as `formats`: JSON Schema itself
// makes `format` an annotation. JSON Schema 2020-12 validation, section 7.3.

/** Assertions for `format`, by name. */
export type Formats = Readonly<Record<string, (text: string) => boolean>>;

const time = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  // Rolled-over days (30 February) come back as another date.
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => label.test(part));
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

function isIpv6(text: string): boolean {
  const [left = "", right, ...more] = text.split("::");
  if (more.length > 0) return false;
  const groups = (half: string) => (half === "" ? [] : half.split(":"));
  const all = [...groups(left), ...groups(right ?? "")];
  const last = all.at(-1) ?? "";
  let count = all.length;
  if (last.includes(".")) {
    if (!isIpv4(last) || (right === "" && left !== "")) return false;
    all.pop();
    count++;
  }
  return (right === undefined ? count === 8 : count < 8) && all.every((group) => /^[\da-f]{1,4}$/i.test(group));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const name = text.slice(0, at);
  return (
    at > 0 &&
    at <= 64 &&
    isHostname(text.slice(at + 1)) &&
    /^(?!\.)[^\s@"<>()[\]\\,;:]+$/.test(name) &&
    !/\.$|\.\./.test(name)
  );
}

function isUri(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`]*$/i.test(text) && !/%(?![\da-f]{2})/i.test(text) && URL.canParse(text);
}

/** The formats known here: date, time, date-time, email, hostname, ipv4, ipv6, uri, uuid. Others assert nothing. */
export const formats: Formats = {
  date: isDate,
  time: (text) => time.test(text),
  "date-time": (text) => /[t]/i.test(text[10] ?? "") && isDate(text.slice(0, 10)) && time.test(text.slice(11)),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: isUri,
  uuid: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
};
