// The mini language in which a revision's facts are written, and the Wire that is prepared from them. Nothing here
// remains at run time. A line is about a shape: its name, or several with commas, and then what it has:
//   key  key?             a member, one that may be absent; of the shape that has its name, or else a string
//   key:Item  key?Item    a member that says what it is; Item|Item is either
//   -key                  a member that the revision takes away
//   &Name                 the members of another shape, as they are in the revision that is asked for
//   |Item|Item            what may stand in place of the shape; before any member, the shape is only this
//   -                     a shape that the revision takes away
// An item is a leaf (see check.ts), a 'word, a Name, {} (an object), Item[], Item[100] (at most) or Item{} (an object
// of items). A line about a shape that is known already adds to it; a member of the same key is replaced. Names that
// are not the protocol's own are groups of members, or the short names of its longer ones.

/**
 * What is wrong with a value, as text to put behind its path (`.name must be a string`); undefined when it is right.
 */
export type Check = (value: unknown) => string | undefined;

/** The shapes of one revision, prepared on first use. Neither method throws on, or changes, what it is given. */
export interface Wire {
  /** Whether this revision has the named shape. */
  has(name: string): boolean;
  /**
   * What is wrong with the value as the named shape, such as `params.name must be a string`; undefined when it is
   * right. `at` is the path of the value. Objects are open: unknown members are tolerated. Absent params are
   * checked as `{}`.
   */
  check(name: string, value: unknown, at?: string): string | undefined;
  /**
   * The value as this revision may carry it: without the members that only other revisions define for the shape, and
   * with text in place of the kinds of content that this revision lacks. Members that no revision defines stay. The
   * same reference comes back when nothing changes.
   */
  fit<T>(name: string, value: T): T;
}
