// Watchers of a server: a burst is told once, and a timer that is lost loses nothing for good.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Change } from "../protocol/endpoint.ts";
import { createWatchers } from "./watchers.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watched() {
  const watchers = createWatchers();
  const heard: Change[] = [];
  watchers.add((change) => heard.push(change));
  return { watchers, heard };
}

test("what has accumulated by the next turn is told once", () => {
  const { watchers, heard } = watched();
  for (let i = 0; i < 3; i++) watchers.tell({ kind: "tools" });
  watchers.tell({ kind: "prompts" });
  expect(heard).toEqual([]);
  vi.runAllTimers();
  expect(heard).toEqual([{ kind: "tools" }, { kind: "prompts" }]);
});

test("a timer that died with the request that set it is set anew, and what waited is told", () => {
  const { watchers, heard } = watched();
  watchers.tell({ kind: "tools" });
  vi.clearAllTimers();
  vi.setSystemTime(Date.now() + 1000);
  watchers.tell({ kind: "prompts" });
  vi.runAllTimers();
  expect(heard).toEqual([{ kind: "tools" }, { kind: "prompts" }]);
});
