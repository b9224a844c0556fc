// Messages without secrets, for whoever keeps or shows them: logs, traces, recordings. What it goes by are the names of
// members, the form of values, and what its caller knows. It guesses, and rather takes out too much.
import { isObject, type JsonObject, type Message, PreparedJson } from "../jsonrpc/message.ts";
import { schemaMapKeywords } from "../schema/nesting.ts";
import { toPointerPart, toPointerPattern } from "../util/json-pointer.ts";
import { isSecretName, redacted, redactText } from "../util/secret-text.ts";

export { isSecretName, redacted, redactText } from "../util/secret-text.ts";

export interface RedactOptions {
  /** Names of members beyond those that are known: their values are taken out. Compared without regard to case. */
  readonly keys?: readonly string[];
  /** What is taken out by its place: JSON Pointers into the message, `*` for any one member, `**` for any number: "/params/arguments/ssn". */
  readonly paths?: readonly string[];
  /** Values that are taken out wherever they stand, also inside texts. Those under four characters are not looked for. */
  readonly secrets?: readonly string[];
  /** Asked for every value that is left and holds no others: gives what is to stand there. */
  readonly replace?: (value: unknown, path: string) => unknown;
  /** What is to stand for a `requestState`, which leads back to a call. Default "[redacted]". */
  readonly markState?: (state: string) => string;
}

/**
 * The same message, or the same batch, with `[redacted]` where a secret was: a copy, the one that is given stays as it is. Its id,
 * its method and the schemas of tools and forms stay what they are. Never throws but what `replace` throws.
 */
export function redact<M extends Message | readonly Message[]>(message: M, options: RedactOptions = {}): M {
  const walk = createWalk(options);
  const one = (each: Message): Message => {
    const whole = "result" in each && each.result instanceof PreparedJson ? toPlain(each, each.result) : each;
    return Object.fromEntries(
      Object.entries(whole).map(([key, value]) => [key, kept.has(key) ? value : walk(value, `/${key}`, "")]),
    ) as unknown as Message;
  };
  return (Array.isArray(message) ? message.map(one) : one(message as Message)) as M;
}

/** The same for any JSON, such as a result that is printed. Schemas have no place in it that is known. */
export function redactJson(value: unknown, options: RedactOptions = {}): unknown {
  return createWalk(options)(value, "", "");
}

const kept = new Set(["jsonrpc", "id", "method"]);

function toPlain(message: Message, { text }: PreparedJson): Message {
  return { ...message, result: JSON.parse(text) as JsonObject } as Message;
}

/** Where schemas stand. Elsewhere what is called `properties` may be anything. */
const schemaPlace =
  /^\/(?:result\/inputRequests\/[^/]*\/)?(?:params|result)\/(?:tools\/\d+\/(?:input|output)Schema|requestedSchema)$/;
/** Their members are named by whoever asks or extends, and are not what a name says. */
const freeNames = /^\/(?:result\/inputRequests|params\/inputResponses)$|\/capabilities\/(?:extensions|experimental)$/i;

type Walk = (value: unknown, path: string, key: string) => unknown;

function createWalk({ keys = [], paths = [], secrets = [], replace, markState }: RedactOptions): Walk {
  const more = new Set(keys.map((key) => key.toLowerCase()));
  const places = paths.map(toPointerPattern);
  // A secret that holds another is taken out whole.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const isSecret = (key: string): boolean => more.has(key.toLowerCase()) || isSecretName(key);

  const leaf = (value: unknown, path: string): unknown => {
    const left = typeof value === "string" ? redactText(value, longestFirst) : value;
    return replace ? replace(left, path) : left;
  };
  const members = (value: JsonObject, path: string): JsonObject => {
    const isFree = freeNames.test(path);
    // { "name": "password", "value": … }: headers, variables, what is completed.
    const label = value.name ?? value.key;
    const isLabelled = typeof label === "string" && isSecret(label);
    return mapMembers(value, (member, key) => {
      const below = `${path}/${toPointerPart(key)}`;
      if (key === "requestState" && typeof member === "string") return markState?.(member) ?? redacted;
      if ((!isFree && isSecret(key)) || (isLabelled && key === "value")) return hide(member, key);
      return walk(member, below, key);
    });
  };
  /** In a schema the names are those of what may be given; only defaults and examples are values. */
  const schema = (value: unknown, path: string, name: string): unknown => {
    if (Array.isArray(value)) return value.map((each, at) => schema(each, `${path}/${at}`, name));
    if (!isObject(value)) return leaf(value, path);
    return mapMembers(value, (member, key) => {
      const below = `${path}/${toPointerPart(key)}`;
      if (key === "default" || key === "examples") return isSecret(name) ? redacted : walk(member, below, key);
      if (!schemaMapKeywords.includes(key) || !isObject(member)) return schema(member, below, name);
      return mapMembers(member, (each, property) => schema(each, `${below}/${toPointerPart(property)}`, property));
    });
  };
  const walk: Walk = (value, path, key) => {
    if (places.some((place) => place.test(path))) return redacted;
    if (schemaPlace.test(path)) return schema(value, path, key);
    if (Array.isArray(value)) return value.map((each, at) => walk(each, `${path}/${at}`, key));
    return isObject(value) ? members(value, path) : leaf(value, path);
  };
  return walk;
}

/** All values in it are taken out, and its form stays: a checker of messages looks at that. */
function hide(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((each) => hide(each, key));
  if (isObject(value)) return mapMembers(value, (member) => hide(member, key));
  return isTaken(value, key) ? redacted : value;
}

/** Tokens are also counted, and numbers of them are no secret; nothing, yes and no never are. */
function isTaken(value: unknown, key: string): boolean {
  if (value === null || value === undefined || typeof value === "boolean" || value === "") return false;
  return typeof value !== "number" || !/tokens?$/i.test(key);
}

function mapMembers(value: JsonObject, change: (member: unknown, key: string) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member, key)]));
}
