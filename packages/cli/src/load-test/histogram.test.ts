// The histogram beside what is exact: all values, sorted.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createHistogram } from "./histogram.ts";

const percents = [0, 1, 50, 90, 99, 99.9, 100];

function exactly(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length - 1e-9)) - 1] as number;
}

const latency = fc.oneof(
  fc.nat(300),
  fc.nat(1_000_000),
  fc.nat(2 ** 31 - 1),
  fc.integer({ min: 0, max: 2 ** 41 }),
  fc.nat(40).map((power) => 2 ** power),
  fc.nat(40).map((power) => 2 ** power - 1),
);

test("percentiles are within 1/128 above the exact ones", () => {
  fc.assert(
    fc.property(fc.array(latency, { minLength: 1, maxLength: 300 }), (values) => {
      const histogram = createHistogram();
      for (const value of values) histogram.add(value);
      const sorted = values.toSorted((a, b) => a - b);
      expect(histogram.count).toBe(values.length);
      expect(histogram.min).toBe(sorted[0]);
      expect(histogram.max).toBe(sorted.at(-1));
      expect(histogram.mean).toBeCloseTo(values.reduce((sum, one) => sum + one, 0) / values.length, 0);
      for (const percent of percents) {
        const exact = exactly(sorted, percent);
        const found = histogram.percentile(percent);
        expect(found).toBeGreaterThanOrEqual(exact);
        expect(found).toBeLessThanOrEqual(exact + exact / 128);
      }
    }),
  );
});

test("buckets lie side by side, and have all that was seen", () => {
  fc.assert(
    fc.property(fc.array(latency, { maxLength: 300 }), (values) => {
      const histogram = createHistogram();
      for (const value of values) histogram.add(value);
      const buckets = histogram.buckets();
      expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
      for (const [at, { from, to, count }] of buckets.entries()) {
        expect(values.filter((value) => value >= from && value <= to)).toHaveLength(count);
        expect(from).toBeGreaterThan(buckets[at - 1]?.to ?? -1);
      }
    }),
  );
});

test("nothing seen is nothing, and what is out of bounds does no harm", () => {
  const histogram = createHistogram();
  expect([histogram.count, histogram.min, histogram.max, histogram.mean, histogram.percentile(99)]).toEqual([
    0, 0, 0, 0, 0,
  ]);
  histogram.add(-1);
  histogram.add(1e18);
  expect(histogram.count).toBe(2);
  expect(histogram.percentile(100)).toBeGreaterThan(2 ** 40);
});
