// What matters to a server on stdio alone: that stdout is the protocol's, and that its process lives and ends as it should.
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Ground } from "../ground.ts";
import { singlesOf } from "../visit.ts";

const exitWithinMs = 5000;

function findNoise({ stays }: Ground): Finding[] {
  const lines = new Set<string>();
  for (const { record } of stays)
    for (const event of record.events)
      for (const one of singlesOf(event)) if (one.kind === "invalid" && one.text?.trim()) lines.add(one.text.trim());
  const shown = [...lines]
    .slice(0, 3)
    .map((line) => JSON.stringify(line.length > 120 ? `${line.slice(0, 119)}…` : line));
  if (shown.length === 0) return [];
  const more = lines.size > 3 ? ` and ${lines.size - 3} more lines` : "";
  return [{ message: `It writes to stdout what is no message: ${shown.join(", ")}${more}.`, where: "stdout" }];
}

async function judgeGarbage(ground: Ground) {
  const hand = await ground.byHand();
  hand.write('this is no JSON\n{"jsonrpc":\n[]\n42\n\n');
  hand.write(new Uint8Array([0xff, 0xfe, 0x00, 0x0a]));
  hand.write(hand.question("after-garbage"));
  if (await hand.answered("after-garbage")) return found([]);
  const message = hand.isOver
    ? "Lines that are no JSON end the server."
    : "After lines that are no JSON it answers no more.";
  // What does not answer is of no use to other checks.
  await hand.kill();
  return found([{ message, where: "stdin" }]);
}

async function judgeLarge(ground: Ground) {
  const hand = await ground.byHand();
  hand.write(hand.question("large", "x".repeat(1024 * 1024)));
  if (await hand.answered("large")) return found([]);
  const message = hand.isOver ? "A message of 1 MB ends the server." : "A message of 1 MB is not answered.";
  await hand.kill();
  return found([{ message, where: "stdin" }]);
}

async function judgePieces(ground: Ground) {
  const hand = await ground.byHand();
  const whole = Buffer.from(hand.question("in-pieces", "é".repeat(10)));
  // In the midst of a character.
  const cut = whole.indexOf(0xc3) + 1;
  hand.write(whole.subarray(0, cut));
  await new Promise((resolve) => setTimeout(resolve, 30));
  hand.write(whole.subarray(cut));
  const hasOne = await hand.answered("in-pieces");
  hand.write(hand.question("first-of-two") + hand.question("second-of-two"));
  const hasBoth = (await hand.answered("first-of-two")) && (await hand.answered("second-of-two"));
  if (hasOne && hasBoth) return found([]);
  await hand.kill();
  const what = hasOne
    ? "Two messages that arrive together are not both answered."
    : "A message that arrives in two pieces is not answered.";
  return found([{ message: what, where: "stdin" }]);
}

async function judgeExit(ground: Ground) {
  const hand = await ground.byHand();
  const within = Math.min(exitWithinMs, ground.timeoutMs);
  const ms = await hand.endInput(within);
  const hasOrphans = hand.hasOrphans();
  await hand.kill();
  const findings: Finding[] = [];
  if (ms === undefined)
    findings.push({
      message: `It still runs ${within / 1000} s after the end of its input: hosts leave it behind, or kill it.`,
    });
  if (hasOrphans) {
    findings.push({
      message: "It exits, but leaves a process behind that it has started.",
      remedy: "End what the server has started before it exits.",
    });
  }
  return found(findings, ms === undefined ? undefined : `${ms} ms`);
}

async function judgeSecrets(ground: Ground) {
  const { spec } = ground;
  if (spec.kind !== "command") return skip("it is not started by us");
  const secrets = Object.entries(spec.env).filter(([, value]) => value.length >= 8);
  if (secrets.length === 0) return skip("it is given no variables with --env");
  const hand = await ground.byHand();
  hand.write(hand.question("for-stderr"));
  await hand.answered("for-stderr");
  const { stderr } = hand;
  return found(
    secrets
      .filter(([, value]) => stderr.includes(value))
      .map(([name]) => ({
        message: `It writes the value of ${name} to stderr, which hosts keep in log files.`,
        where: "stderr",
      })),
  );
}

const usual = { appliesTo: "stdio", severity: "error" } as const;

/** In this order: the last one ends the process that the others speak to. */
export const stdioChecks: readonly Check[] = [
  {
    ...usual,
    id: "stdio/stdout",
    title: "Only messages of the protocol are on stdout",
    looksAt: "lines on stdout that are no JSON",
    remedy:
      "Write logs to stderr: console.error in JavaScript, print(…, file=sys.stderr) in Python. Many clients end the connection.",
    needsConnection: false,
    run: (ground) => found(findNoise(ground)),
  },
  {
    ...usual,
    id: "stdio/pieces",
    title: "Messages are read line by line, however they arrive",
    looksAt: "a message in two pieces, cut within a character, and two messages at once",
    remedy: "Collect bytes until a line feed, decode them then, and keep what follows it for the next line.",
    run: judgePieces,
  },
  {
    ...usual,
    id: "stdio/large-message",
    title: "A message of 1 MB is answered",
    looksAt: "the answer to a request of 1 MB",
    remedy: "Read lines of any length that is sensible; where there is a limit, answer beyond it with an error.",
    run: judgeLarge,
  },
  {
    ...usual,
    id: "stdio/garbage",
    title: "Lines that are no JSON do not end the server",
    looksAt: "whether it still answers after lines that are no messages",
    remedy: "Catch the error of the parser, answer with -32700 or say nothing, and read on.",
    run: judgeGarbage,
  },
  {
    ...usual,
    id: "stdio/secrets",
    title: "Secrets from the environment are not written to stderr",
    looksAt: "the values of --env in what it writes to stderr",
    remedy: "Log the names of variables, and never their values.",
    run: judgeSecrets,
  },
  {
    ...usual,
    id: "stdio/exit",
    title: "It exits when its input ends, and leaves nothing behind",
    looksAt: `the time from the end of stdin to the exit, at most ${exitWithinMs / 1000} s, and processes that it has started`,
    remedy: "Close what keeps the process alive when stdin ends: timers, servers, connections, child processes.",
    run: judgeExit,
  },
];
