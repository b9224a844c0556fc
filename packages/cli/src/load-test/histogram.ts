// How often each latency was seen, in memory that does not grow: buckets that are 1/128 of their value wide, so that a percentile
// is never wrong by more than 0.8 %. The least, the greatest and the mean are exact.

/** Below this each microsecond has a bucket to itself; above it every doubling has half as many. */
const exact = 256;
const half = exact / 2;
/** Up to 2^42 µs, more than fifty days. */
const doublings = 34;

export interface Bucket {
  /** In microseconds; `to` belongs to it. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface Histogram {
  readonly count: number;
  /** In microseconds; 0 where nothing was seen. */
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** @param us whole microseconds, 0 or more */
  add(us: number): void;
  /** What so many of a hundred did not exceed: 50 is the median. */
  percentile(percent: number): number;
  /** Those that have any, the least first. */
  buckets(): Bucket[];
}

function indexOf(us: number): number {
  if (us < exact) return us;
  const shift = Math.floor(Math.log2(us)) - 7;
  // 2 ** and not <<: values may have more than 32 bits.
  const part = Math.floor(us / 2 ** shift);
  return exact + (shift - 1) * half + (part - half);
}

function rangeOf(index: number): { readonly from: number; readonly to: number } {
  if (index < exact) return { from: index, to: index };
  const shift = Math.floor((index - exact) / half) + 1;
  const from = (half + ((index - exact) % half)) * 2 ** shift;
  return { from, to: from + 2 ** shift - 1 };
}

export function createHistogram(): Histogram {
  const counts = new Float64Array(exact + doublings * half);
  const largest = rangeOf(counts.length - 1).to;
  let [count, sum, min, max] = [0, 0, Number.POSITIVE_INFINITY, 0];
  return {
    get count() {
      return count;
    },
    get min() {
      return count === 0 ? 0 : min;
    },
    get max() {
      return max;
    },
    get mean() {
      return count === 0 ? 0 : sum / count;
    },
    add(given) {
      const us = Math.min(largest, Math.max(0, Math.round(given)));
      counts[indexOf(us)] = (counts[indexOf(us)] as number) + 1;
      count++;
      sum += us;
      min = Math.min(min, us);
      max = Math.max(max, us);
    },
    percentile(percent) {
      const wanted = Math.max(1, Math.ceil((percent / 100) * count - 1e-9));
      let seen = 0;
      for (let index = 0; index < counts.length && count > 0; index++) {
        seen += counts[index] as number;
        // The greater end of a bucket, but never more than was seen.
        if (seen >= wanted) return Math.min(rangeOf(index).to, max);
      }
      return max;
    },
    buckets() {
      const found: Bucket[] = [];
      counts.forEach((one, index) => {
        if (one > 0) found.push({ ...rangeOf(index), count: one });
      });
      return found;
    },
  };
}
