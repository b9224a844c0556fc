// What a session remembers of its event streams, so that a client that lost a connection can have the rest: the events,
// bounded, with ids that lead to their stream. Specification: basic/transports § Resumability and Redelivery.

export interface LoggedEvent {
  readonly id: string;
  /** They grow from one event to the next, whatever its stream. */
  readonly number: number;
  readonly data: string;
}

/** How much all sessions of a server keep together. Whoever keeps most makes room. */
export class EventBudget {
  readonly maxBytes: number;
  bytes = 0;
  /** Those that keep something. */
  readonly #logs = new Set<EventLog>();

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  add(log: EventLog): void {
    this.#logs.add(log);
  }

  delete(log: EventLog): void {
    this.#logs.delete(log);
  }

  /** @param own the one that needs room, and makes it where all keep the same */
  largest(own: EventLog): EventLog {
    let largest = own;
    for (const log of this.#logs) if (log.bytes > largest.bytes) largest = log;
    return largest;
  }
}

interface Kept {
  readonly stream: number;
  readonly number: number;
  readonly data: string;
  readonly at: number;
}

/** Of an event beside its text, and of its stream. */
const overheadBytes = 500;

export class EventLog {
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  readonly #budget: EventBudget;
  #events: Kept[] = [];
  /** How much is kept here. */
  bytes = 0;
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

  /** The number that was given last. */
  get newest(): number {
    return this.#next - 1;
  }

  /** The id of the event that is appended next. */
  nextId(stream: number): string {
    return formatEventId(stream, this.#next);
  }

  /** An id for an event that carries nothing: what comes after it can be asked for. */
  mark(stream: number): string {
    return formatEventId(stream, this.#next++);
  }

  /** Remembers an event and gives its id. */
  append(stream: number, data: string): string {
    const number = this.#next++;
    if (this.#events.push({ stream, number, data, at: Date.now() }) === 1) this.#budget.add(this);
    this.#count(data, 1);
    while (this.#events.length > this.#maxEvents || this.bytes > this.#maxBytes) this.drop();
    while (this.#budget.bytes > this.#budget.maxBytes) this.#budget.largest(this).drop();
    return formatEventId(stream, number);
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
    return this.#events
      .filter((event) => event.stream === stream && event.number > number)
      .map((event) => ({ id: formatEventId(stream, event.number), number: event.number, data: event.data }));
  }

  /** Whether a stream has an event with this very text. */
  has(stream: number, data: string): boolean {
    return this.#events.some((event) => event.stream === stream && event.data === data);
  }

  /** Forgets a stream. @param last the number of its newest event: where that is gone there is nothing to look for */
  forget(stream: number, last: number = Number.POSITIVE_INFINITY): void {
    if (last >= this.oldest) this.#keep((event) => event.stream !== stream);
    this.#dropped.delete(stream);
  }

  /** Lets go of the events of a stream up to one of them, where they are older than `before`. */
  trim(stream: number, number: number, before: number): void {
    this.#keep((event) => event.stream !== stream || event.number > number || event.at > before);
  }

  clear(): void {
    this.#keep(() => false);
    this.#dropped.clear();
  }

  /** Lets go of the oldest event. */
  drop(): void {
    const oldest = this.#events.shift() as Kept;
    this.#dropped.set(oldest.stream, oldest.number);
    this.#count(oldest.data, -1);
    if (this.#events.length === 0) this.#budget.delete(this);
  }

  #keep(isKept: (event: Kept) => boolean): void {
    if (this.#events.length === 0) return;
    const left: Kept[] = [];
    for (const event of this.#events) {
      if (isKept(event)) {
        left.push(event);
        continue;
      }
      this.#dropped.set(event.stream, event.number);
      this.#count(event.data, -1);
    }
    this.#events = left;
    if (left.length === 0) this.#budget.delete(this);
  }

  #count(data: string, sign: 1 | -1): void {
    const bytes = sign * (data.length * 2 + overheadBytes);
    this.bytes += bytes;
    this.#budget.bytes += bytes;
  }
}

function formatEventId(stream: number, number: number): string {
  return `${stream}-${number}`;
}

/** The stream and the number that an event id names; undefined for what is no id of ours. */
export function parseEventId(id: string): { readonly stream: number; readonly number: number } | undefined {
  const [, stream, number] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream: Number(stream), number: Number(number) };
}
