// Names for what has names of other kinds: identifiers of TypeScript, each once.

export interface Names {
  /** The wanted name, or the first like it that is free. */
  claim(wanted: string): string;
}

/** `get-weather` → `GetWeather`. What has no letter or digit of ASCII is called by `fallback`. */
export function toPascal(name: string, fallback: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").match(/[A-Za-z\d]+/g) ?? [];
  const pascal = words
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("")
    .slice(0, maxLength);
  return pascal === "" ? fallback : /^\d/.test(pascal) ? fallback + pascal : pascal;
}

/** Names may be of any length, and a file of them must still be read. */
const maxLength = 80;

/** @param taken names that mean something else in the file */
export function createNames(taken: readonly string[]): Names {
  const used = new Set(taken);
  return {
    claim(wanted) {
      let name = wanted;
      for (let count = 2; used.has(name); count++) name = `${wanted}${count}`;
      used.add(name);
      return name;
    },
  };
}
