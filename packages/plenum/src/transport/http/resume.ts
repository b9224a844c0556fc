// What a session remembers of its event streams, so that a client that lost a connection can have the rest: the events,
// bounded, with ids that lead to their stream. Specification: basic/transports § Resumability and Redelivery.

export interface LoggedEvent {
  readonly id: string;
  readonly data: string;
}

/** How much all sessions of a server keep together. */
export interface EventBudget {
  bytes: number;
  readonly maxBytes: number;
}

interface Kept extends LoggedEvent {
  readonly stream: number;
  readonly number: number;
}

/** Of an event beside its text, and of its stream. */
const overheadBytes = 500;

export class EventLog {
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #budget: EventBudget;
  #events: Kept[] = [];
  #bytes = 0;
  #next = 1;
  /** The newest event of each stream that is not kept any more. */
  readonly #dropped = new Map<number, number>();

  constructor(maxEvents: number, maxBytes: number, budget: EventBudget) {
    this.#maxEvents = maxEvents;
    this.#maxBytes = maxBytes;
    this.#budget = budget;
  }

  /** The number of the oldest event that is kept. */
  get oldest(): number {
    return this.#events[0]?.number ?? this.#next;
  }

  /** An id for an event that carries nothing: what comes after it can be asked for. */
  mark(stream: number): string {
    return `${stream}-${this.#next++}`;
  }

  /** Remembers an event and gives its id. */
  append(stream: number, data: string): string {
    const number = this.#next++;
    const id = `${stream}-${number}`;
    this.#events.push({ id, data, stream, number });
    this.#count(data, 1);
    while (this.#events.length > 0 && this.#isFull()) this.#drop();
    return id;
  }

  /**
   * The events of a stream behind one of them, in order. Undefined where some of them are not kept any more, as the client
   * must not take what is left for all; and behind one that never was.
   */
  after(stream: number, number: number): readonly LoggedEvent[] | undefined {
    if (number >= this.#next || (this.#dropped.get(stream) ?? 0) > number) return undefined;
    return this.rest(stream, number);
  }

  /** What is kept of them, be there a gap or not. */
  rest(stream: number, number: number): readonly LoggedEvent[] {
    return this.#events.filter((event) => event.stream === stream && event.number > number);
  }

  /** Whether a stream has an event with this very text. */
  has(stream: number, data: string): boolean {
    return this.#events.some((event) => event.stream === stream && event.data === data);
  }

  /** Forgets a stream. */
  forget(stream: number): void {
    this.#dropped.delete(stream);
    const left: Kept[] = [];
    for (const event of this.#events) {
      if (event.stream === stream) this.#count(event.data, -1);
      else left.push(event);
    }
    this.#events = left;
  }

  clear(): void {
    for (const { data } of this.#events) this.#count(data, -1);
    this.#events = [];
    this.#dropped.clear();
  }

  #isFull(): boolean {
    const { bytes, maxBytes } = this.#budget;
    return this.#events.length > this.#maxEvents || this.#bytes > this.#maxBytes || bytes > maxBytes;
  }

  #drop(): void {
    const oldest = this.#events.shift() as Kept;
    this.#dropped.set(oldest.stream, oldest.number);
    this.#count(oldest.data, -1);
  }

  #count(data: string, sign: 1 | -1): void {
    const bytes = sign * (data.length * 2 + overheadBytes);
    this.#bytes += bytes;
    this.#budget.bytes += bytes;
  }
}

/** The stream and the number that an event id names; undefined for what is no id of ours. */
export function parseEventId(id: string): { readonly stream: number; readonly number: number } | undefined {
  const [, stream, number] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream: Number(stream), number: Number(number) };
}
