// One word that could be typed next.

export interface Candidate {
  /** The whole word. */
  readonly value: string;
  readonly description?: string | undefined;
  /** More of the word is to come, as after `key=`: no blank follows it. */
  readonly isOpen?: boolean;
}
