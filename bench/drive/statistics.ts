// Medians, percentiles and rounding: what makes figures of measurements.

/** Of the values that are numbers; `null` if none is. */
export function median(values: readonly (number | null | undefined)[]): number | null {
  const sorted = values.filter((value): value is number => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  const high = sorted[middle] as number;
  return sorted.length % 2 ? high : ((sorted[middle - 1] as number) + high) / 2;
}

/** The median and the 99th percentile of times in milliseconds, in microseconds. */
export function percentiles(times: readonly number[]): {
  readonly p50Us: number | null;
  readonly p99Us: number | null;
} {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number): number | null => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return value === undefined ? null : Math.round(value * 1000);
  };
  return { p50Us: at(0.5), p99Us: at(0.99) };
}

/** With at most so many digits after the point; what is no number is `null`. */
export function round(value: number | null | undefined, digits = 2): number | null {
  return Number.isFinite(value) ? Number((value as number).toFixed(digits)) : null;
}

/** What a person reads: 0.004, 0.07, 1.2, 35, 28,344. */
export function formatNumber(value: number | null | undefined): string {
  if (!Number.isFinite(value)) return "";
  const number = value as number;
  const size = Math.abs(number);
  if (size >= 100) return Math.round(number).toLocaleString("en-US");
  if (size > 0 && size < 0.01) return String(Number(number.toPrecision(1)));
  return String(round(number, size >= 10 ? 1 : 2));
}
