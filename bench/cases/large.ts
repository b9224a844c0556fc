// A result of 10 MB and an argument of 1 MB, over stdio and HTTP.
import type { Case } from "../case.ts";
import { type Server, startEither } from "../drive/either.ts";
import { peakRssMb, resetPeak } from "../drive/machine.ts";
import { median, round } from "../drive/statistics.ts";

const megabyte = 1024 * 1024;
const resultBytes = 10 * megabyte;
const argument = `"name":"length","arguments":{"text":"${"y".repeat(megabyte)}"}`;
const wanted = `"name":"large","arguments":{"bytes":${resultBytes}}`;

export const large: Case<Server> = {
  name: "large",
  help: "a result of 10 MB and an argument of 1 MB, over stdio and HTTP, and the most memory meanwhile",
  better: { resultMs: "low", argumentMs: "low", peakRssMb: "low" },
  variants: ({ stdio, http }) => [
    ...(stdio ? ["stdio"] : []),
    ...Object.keys(http ?? {}).filter((mode) => !/^stateless|node:http$/.test(mode)),
  ],
  baseline: (variant) => (variant === "stdio" ? "stdio" : "session-json"),
  isPaired: true,
  // Bare is measured beside each of them: in one process it would have had more practice than any.
  isFresh: true,
  repeats: 5,
  setup: (target, variant) => startEither(target, variant),
  async measure(server) {
    await server.ask("tools/call", "large", wanted);
    resetPeak(server.pid);
    const results: number[] = [];
    for (let i = 0; i < 10; i++) {
      const { text, ms } = await server.ask("tools/call", "large", wanted);
      if (text.length < resultBytes) throw new Error(`a result of ${text.length} bytes: ${text.slice(0, 300)}`);
      results.push(ms);
    }
    const peak = peakRssMb(server.pid);
    const args: number[] = [];
    // Of a few milliseconds each: the first are those of code that is not compiled yet.
    for (let i = 0; i < 40; i++) {
      const { text, ms } = await server.ask("tools/call", "length", argument);
      if (text.includes(`"text":"${megabyte}"`)) args.push(ms);
      // A limit is no wrong answer, and no figure either.
      else if (/^HTTP 4\d\d/.test(text)) break;
      else throw new Error(`a wrong answer: ${text.slice(0, 300)}`);
    }
    return { resultMs: round(median(results)), argumentMs: round(median(args)), peakRssMb: round(peak, 1) };
  },
  teardown: (server) => server.close(),
};
