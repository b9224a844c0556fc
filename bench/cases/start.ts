// What the command line takes to start: CPU time of the whole process, beside that of Node with nothing to do.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureCli } from "../../test/house/built.ts";
import type { Case } from "../case.ts";
import { round } from "../drive/statistics.ts";

interface Start {
  /** What node is given. */
  readonly words: readonly string[];
  /** What it prints. */
  readonly prints: RegExp;
  readonly home: string;
}

const nodeAlone = "node -e 0";

/** The words after the program's name, and what is printed. Files are those of peers/plenum. */
const starts: { readonly [variant: string]: { readonly words: readonly string[]; readonly prints: RegExp } } = {
  "plenum --version": { words: ["--version"], prints: /^plenum \d/ },
  "plenum call FILE.mjs": { words: ["call", "start.mjs", "add", "a=1", "b=2"], prints: /^3$/m },
  "plenum call FILE.ts": { words: ["call", "start.ts", "add", "a=1", "b=2"], prints: /^3$/m },
};

/** So many processes a round: one by one their times are too small to be told apart. */
const times = 3;

/**
 * CPU time of all its threads, as the kernel counts it for a child that has ended: bash tells of its own. Few variables are
 * passed on: some, such as NODE_EXTRA_CA_CERTS, make every start of Node slow, and so the ratio small.
 */
function run({ words, prints, home }: Start): number {
  const { PATH = "" } = process.env;
  const loop = `for _ in ${Array(times).fill("x").join(" ")}; do "$@" || exit; done; times`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", loop, "start", process.execPath, ...words], {
    cwd: join(import.meta.dirname, "..", "peers", "plenum"),
    env: { PATH, HOME: home, LANG: "C.UTF-8" },
    encoding: "utf8",
    timeout: 60_000,
  });
  const lines = stdout.trimEnd().split("\n");
  // Of its children, the last line: user and system, in minutes and seconds.
  const spent = [...(lines.at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  const said = lines.slice(0, -2).join("\n");
  if (status !== 0 || spent.length !== 2 || !prints.test(said)) {
    throw new Error(`it ended with ${status}, and printed: ${said} ${stderr}`);
  }
  return (spent.reduce((sum, one) => sum + one, 0) * 1e6) / times;
}

export const start: Case<Start> = {
  name: "start",
  help: "start of the command line: CPU time of the whole process, beside that of Node with nothing to do",
  better: { cpuUs: "low" },
  repeats: 15,
  isPaired: true,
  variants({ name }) {
    if (name === "bare") return [nodeAlone];
    return name === "plenum" ? Object.keys(starts) : [];
  },
  baseline: () => nodeAlone,
  async setup(_target, variant) {
    const home = mkdtempSync(join(tmpdir(), "plenum-start-"));
    const { words, prints } = starts[variant] ?? { words: ["-e", "0"], prints: /^/ };
    const ready = { words: variant === nodeAlone ? words : [await ensureCli(), ...words], prints, home };
    // What is kept from the first run on is not what is measured.
    run(ready);
    return ready;
  },
  async measure(ready) {
    return { cpuUs: round(run(ready), 0) };
  },
  teardown: ({ home }) => rmSync(home, { recursive: true, force: true }),
};
