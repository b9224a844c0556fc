// The mini language in which a revision's facts are written, the table of one revision that is read from them, and
// the Wire that is prepared from that. A line is a shape: its name, or several with commas, and then members.
//   key  key?  key:Item|Item  key?:Item      a member, `?` an optional one; a string unless it says otherwise
//   key:-                                    a member that the revision takes away
//   &Name                                    the members of another shape, as the revision has them
//   |Item|Item                               what may stand in place of the shape; without members, an alias
//   -                                        the revision takes the shape away
// An item is a leaf (in check.ts), a 'literal', a Name, Item[], Item[100] (at most) or Item{} (an object of items).
// A line about a shape that is known already adds to it, or replaces the members of the same key.

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
