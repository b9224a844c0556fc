// No rejection may go unhandled and no exception uncaught, whatever the test does: for the files that provoke them.
import { afterEach, beforeEach, expect } from "vitest";
import { calm } from "./target.ts";

/** Watches every test of the file that calls it. */
export function watchStrays(): void {
  const strays: unknown[] = [];
  const onStray = (reason: unknown): void => void strays.push(reason);
  const events = ["unhandledRejection", "uncaughtException"] as const;

  beforeEach(() => {
    for (const event of events) process.on(event, onStray);
  });

  afterEach(async () => {
    await calm();
    for (const event of events) process.off(event, onStray);
    expect(strays.splice(0)).toEqual([]);
  });
}
