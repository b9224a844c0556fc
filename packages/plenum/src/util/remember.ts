// What a function of a text gave, for texts that come again and again, such as the headers that every request brings.

const longest = 256;
const most = 100;

/** Remembers some answers; whoever sends ever new texts, or long ones, only makes it forget. */
export function remember<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  // To compare with the latest takes a fraction of the time that finding it takes.
  let latest: string | undefined;
  let given: V;
  return (text) => {
    if (text === latest) return given;
    let value = known.get(text);
    if (value === undefined) {
      value = make(text);
      if (text.length > longest) return value;
      if (known.size >= most) known.clear();
      known.set(text, value);
    }
    latest = text;
    given = value;
    return value;
  };
}
