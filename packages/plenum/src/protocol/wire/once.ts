// A function that works each answer out once and remembers it: how everything here is prepared on first use.

/** Remembers by the argument, for ever: for keys from a closed set, never for what a peer sends. */
export function once<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) {
      value = make(key);
      made.set(key, value);
    }
    return value;
  };
}
