import { expect, test } from "vitest";
import { startErrand } from "./errand.ts";

/** One that ends when it is told to, or is called off. */
function begin() {
  let end = (_: string): void => {};
  let runs = 0;
  const errand = startErrand(
    (signal) =>
      new Promise<string>((resolve, reject) => {
        runs++;
        end = resolve;
        signal.addEventListener("abort", () => reject(new Error("called off")));
      }),
  );
  return { errand, end: (value: string) => end(value), runs: () => runs };
}

test("it runs once, for all who join", async () => {
  const { errand, end, runs } = begin();
  const all = [errand.join(undefined), errand.join(new AbortController().signal), errand.join(undefined)];
  end("done");
  expect(await Promise.all(all)).toEqual(["done", "done", "done"]);
  expect(runs()).toBe(1);
  expect(errand.isCalledOff).toBe(false);
});

test("who leaves does so alone, until the last one does", async () => {
  const { errand } = begin();
  const [one, two] = [new AbortController(), new AbortController()];
  const joined = [errand.join(one.signal), errand.join(two.signal)];
  one.abort(new Error("enough"));
  await expect(joined[0]).rejects.toThrow("enough");
  expect(errand.isCalledOff).toBe(false);
  two.abort(new Error("me too"));
  await expect(joined[1]).rejects.toThrow("me too");
  expect(errand.isCalledOff).toBe(true);
  await errand.ended;
});

test("who joins late may keep it alive", async () => {
  const { errand, end } = begin();
  const controller = new AbortController();
  const first = errand.join(controller.signal);
  const late = errand.join(undefined);
  controller.abort();
  await expect(first).rejects.toThrow();
  end("done");
  expect(await late).toBe("done");
});

test("its failure is that of all, and nobody's who does not wait", async () => {
  const errand = startErrand(async () => {
    throw new Error("no");
  });
  const joined = [errand.join(undefined), errand.join(undefined)];
  for (const one of joined) await expect(one).rejects.toThrow("no");
  await errand.ended;
  const left = startErrand(async () => {
    throw new Error("no");
  });
  await left.ended;
  expect(left.isCalledOff).toBe(false);
});
