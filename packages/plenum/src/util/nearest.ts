// The name that was probably meant, for messages about a misspelt one.

/** Longer texts are no misspelt names, and comparing them costs the product of their lengths. */
const maxLength = 64;

/** The nearest of `known`, whatever its case, or undefined where none is near. */
export function nearestTo(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase());
    // A third of the letters may be wrong: beyond that the suggestion is a guess.
    if (distance < bestDistance && distance <= Math.max(1, Math.floor(candidate.length / 3))) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Letters to add, leave out, replace or swap with their neighbour to come from one to the other. */
function distanceOf(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] as number) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwapped ? (before[j - 2] as number) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] as number;
}
