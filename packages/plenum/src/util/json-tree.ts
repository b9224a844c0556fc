// JSON values as trees: how large one is, and how it is made safe to share. Neither recurses, so that no nesting is
// too deep.

/**
 * About as many characters as the value has when it is written as JSON, without writing it: escapes are not counted,
 * and numbers are taken to be short. Counting stops above `limit`, so that even what has no end costs no more.
 * @param each what a value counts beside its characters, where memory is what matters
 */
export function measureJson(value: unknown, limit: number, each = 0): number {
  const open: unknown[] = [value];
  let size = 0;
  while (open.length > 0 && size <= limit) {
    const node = open.pop();
    size += each;
    if (typeof node === "string") size += node.length + 2;
    else if (typeof node !== "object" || node === null) size += 4;
    else if (Array.isArray(node)) {
      size += node.length + 2;
      for (let i = 0; i < node.length && size <= limit; i++) open.push(node[i]);
    } else {
      size += 2;
      for (const key of Object.keys(node)) {
        size += key.length + 4;
        if (size > limit) break;
        open.push((node as { readonly [key: string]: unknown })[key]);
      }
    }
  }
  return size;
}

/** Freezes the value and all in it. For trees only: what contains itself would never end. */
export function freezeJson(value: unknown): void {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== "object" || node === null) continue;
    Object.freeze(node);
    for (const member of Object.values(node)) if (typeof member === "object") open.push(member);
  }
}
