// Words for people that several checks put together alike.

/** "1 tool", "3 tools". */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
