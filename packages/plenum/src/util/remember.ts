// What a function of a text gave, for texts that come again and again, such as the headers that every request brings.

const longest = 256;
const most = 100;

/** Remembers some answers; whoever sends ever new texts, or long ones, only makes it forget. */
export function remember<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (text.length <= longest) {
      if (known.size >= most) known.clear();
      known.set(text, made);
    }
    return made;
  };
}
