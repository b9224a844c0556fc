// Reads XML, and nothing that is not well-formed: for reports that other programs are to read.

export interface XmlElement {
  readonly name: string;
  readonly attributes: { readonly [name: string]: string };
  readonly children: XmlElement[];
  /** All text right inside it. */
  text: string;
}

const entities: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function toPlain(text: string): string {
  return text.replace(/&(\w*);?/g, (all, name: string) => {
    const character = entities[name];
    if (character === undefined || !all.endsWith(";")) throw new Error(`${all} is no entity`);
    return character;
  });
}

/** Throws for text that is not well-formed. Comments, CDATA and declarations of types are not understood. */
export function readXml(source: string): XmlElement {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(source)) throw new Error("a control character");
  const body = source.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/, "");
  const top: XmlElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [top];
  const token = /<(\/?)([\w.-]+)((?:\s+[\w.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
  while (token.lastIndex < body.length) {
    const at = token.lastIndex;
    const match = token.exec(body);
    if (!match) throw new Error(`not XML: ${body.slice(at, at + 60)}`);
    const [, closing, name = "", attributes = "", alone, text] = match;
    const parent = open.at(-1) as XmlElement;
    if (text !== undefined) parent.text += toPlain(text);
    else if (closing) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes ${parent.name}`);
    } else {
      const pairs = [...attributes.matchAll(/([\w.-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [
        key,
        toPlain(value),
      ]);
      const element = { name, attributes: Object.fromEntries(pairs), children: [], text: "" };
      parent.children.push(element);
      if (!alone) open.push(element);
    }
  }
  const [root] = top.children;
  if (!root || open.length !== 1 || top.children.length !== 1) throw new Error("there is not one root, closed");
  return root;
}
