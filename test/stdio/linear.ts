// Measures what one long message costs, by its size: CPU time for the framing alone, and for the whole way from bytes to
// the receiver of a channel. The bytes come in chunks of 64 kB, as a pipe gives them.
import { PassThrough, Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createStreamChannel } from "../../packages/plenum/src/transport/stdio/channel.ts";
import { createLines } from "../../packages/plenum/src/transport/stdio/lines.ts";

export const megabyte = 1_000_000;
export const sizes: readonly number[] = [8, 16, 32, 64];
const chunkSize = 65_536;

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

export const paths = ["framing", "channel"] as const;
export type Path = (typeof paths)[number];

/** Nanoseconds of CPU per byte, the least of all rounds, by size in megabytes. */
export type Costs = ReadonlyMap<number, number>;

/** One message of that many bytes: text with characters of one, two and three bytes, beside many small values. */
function toBytes(size: number): Buffer {
  const item = { name: "example", values: [1, 2.5, true, null], text: `é☃ ${"lorem ipsum dolor ".repeat(200)}` };
  const one = Buffer.byteLength(JSON.stringify(item)) + 1;
  const params = { items: Array.from({ length: Math.floor(size / one) }, () => item) };
  const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "big", params })}\n`);
  if (Math.abs(bytes.length - size) > size / 100) throw new Error(`${bytes.length} bytes instead of ${size}`);
  return bytes;
}

function* toChunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
}

const readers: { readonly [path in Path]: (bytes: Buffer) => Promise<void> } = {
  async framing(bytes) {
    let length = 0;
    const lines = createLines({
      maxBytes: 100 * megabyte,
      onLine: (text) => {
        length = text.length;
      },
      onTooLong: () => {},
    });
    for (const chunk of toChunks(bytes)) lines.push(chunk);
    if (length < bytes.length * 0.9) throw new Error(`A line of ${length} characters out of ${bytes.length} bytes`);
  },
  channel: (bytes) =>
    new Promise((resolve, reject) => {
      const input = Readable.from(toChunks(bytes), { objectMode: false, highWaterMark: chunkSize });
      const channel = createStreamChannel({ input, output: new PassThrough(), maxBytes: 100 * megabyte });
      channel.open({
        receive: (incoming) => {
          if (incoming.kind === "request") resolve();
          else reject(new Error(`Received: ${incoming.kind}`));
          channel.close();
        },
        closed: () => {},
      });
    }),
};

/** Sizes and paths take turns, so that what disturbs the machine disturbs all of them. */
export async function measureLinear(rounds: number): Promise<ReadonlyMap<Path, Costs>> {
  const messages = new Map(sizes.map((size) => [size, toBytes(size * megabyte)]));
  const costs = new Map(paths.map((path) => [path, new Map<number, number>()]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [size, bytes] of messages) {
      for (const path of paths) {
        // The garbage of one measurement is not to be collected at the cost of the next.
        gc();
        // Small sizes are repeated, so that all measurements take as long.
        const times = Math.max(...sizes) / size;
        const before = process.cpuUsage();
        for (let i = 0; i < times; i++) await readers[path](bytes);
        const { user, system } = process.cpuUsage(before);
        const cost = ((user + system) * 1000) / (bytes.length * times);
        const least = costs.get(path);
        if (round > 0) least?.set(size, Math.min(least.get(size) ?? Number.POSITIVE_INFINITY, cost));
      }
    }
  }
  return costs;
}

/** The dearest byte to the cheapest. */
export function ratioOf(costs: Costs): number {
  return Math.max(...costs.values()) / Math.min(...costs.values());
}
