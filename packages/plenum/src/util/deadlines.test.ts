import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadlines } from "./deadlines.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function create(ms: number) {
  const late: string[] = [];
  const one = (name: string) => ({ name, lateAt: 0 });
  return { late, one, deadlines: new Deadlines<ReturnType<typeof one>>(ms, ({ name }) => late.push(name)) };
}

test("each is late after its own time, and once", () => {
  const { late, one, deadlines } = create(100);
  deadlines.add(one("a"));
  vi.advanceTimersByTime(60);
  deadlines.add(one("b"));
  vi.advanceTimersByTime(39);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(late).toEqual(["a"]);
  vi.advanceTimersByTime(60);
  expect(late).toEqual(["a", "b"]);
  vi.advanceTimersByTime(500);
  expect(late).toEqual(["a", "b"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what is taken out is not late, and what is put in again begins anew", () => {
  const { late, one, deadlines } = create(100);
  const [gone, again] = [one("gone"), one("again")];
  deadlines.add(again);
  deadlines.add(gone);
  vi.advanceTimersByTime(50);
  deadlines.delete(gone);
  deadlines.add(again);
  vi.advanceTimersByTime(90);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(20);
  expect(late).toEqual(["again"]);
});

test("one timer does for all of them, and for those that come while it looks", () => {
  const { late, one, deadlines } = create(100);
  for (let i = 0; i < 1000; i++) deadlines.add(one(`${i}`));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(101);
  expect(late).toHaveLength(1000);
  deadlines.add(one("later"));
  vi.advanceTimersByTime(101);
  expect(late.at(-1)).toBe("later");
});
