// Whether and how the server can be connected to: revisions, time, how it says who it is.
import { type Check, type Finding, found, skip } from "../check.ts";
import type { Stay } from "../ground.ts";
import { describeAnswer, reasonOf } from "../visit.ts";

const slowMs = 3000;
const tooSlowMs = 10_000;

export const connectsChecks: readonly Check[] = [
  {
    id: "connects/revisions",
    spansRevisions: true,
    title: "It can be connected to",
    looksAt: "a connection without a pinned revision, and one in each revision that Plenum knows",
    appliesTo: "any",
    severity: "error",
    remedy:
      "Start the server by itself and read what it writes to stderr; see that the address or the command is right.",
    needsConnection: false,
    run({ first, stays }) {
      const spoken = stays.flatMap(({ asked, visit }) => (asked && visit ? [asked] : []));
      const [newest] = spoken;
      const findings: Finding[] = [];
      if (!first.visit) findings.push({ message: toReason(first) });
      else if (newest !== undefined && newest > first.visit.revision) {
        findings.push({
          message: `It settles on ${first.visit.revision}, though it speaks ${newest} when asked for it.`,
          remedy: "Answer initialize with the newest revision that both sides know.",
          severity: "warning",
        });
      }
      if (!first.visit && newest !== undefined) {
        findings.push({
          message: `It can be connected to in ${newest}, but not by a client that asks for the newest revision first.`,
          remedy: "Answer server/discover, or any method that is not known, with error -32601, and go on serving.",
        });
      }
      const all = spoken.length > 0 ? `; speaks ${spoken.join(", ")}` : "";
      return found(findings, first.visit && `settles on ${first.visit.revision}${all}`);
    },
  },
  {
    id: "connects/newest",
    title: "It speaks a revision of the last two",
    looksAt: "the newest revision that it speaks",
    appliesTo: "any",
    severity: "note",
    remedy: "Bring its SDK up to date. Clients go on speaking older revisions, with fewer features.",
    run({ main }) {
      if (main.revision >= "2025-11-25") return found([]);
      return found([{ message: `The newest revision that it speaks is ${main.revision}.` }]);
    },
  },
  {
    id: "connects/start-time",
    title: "It answers soon after it is started",
    looksAt: "the time until the first answer",
    appliesTo: "any",
    severity: "warning",
    remedy:
      "Load what is slow on the first call that needs it, and install ahead what npx or uvx would fetch at each start.",
    run({ first }) {
      const ms = first.record.firstAnswerMs;
      if (ms === undefined) return skip("it did not answer");
      const took = `The first answer took ${(ms / 1000).toFixed(1)} s.`;
      if (ms <= slowMs) return found([], `${Math.round(ms)} ms`);
      return found([{ message: took, severity: ms > tooSlowMs ? "error" : "warning" }]);
    },
  },
  {
    id: "connects/version-fallback",
    spansRevisions: true,
    title: "Asked for a revision that does not exist, it names one that it speaks",
    looksAt: "the answer to initialize with the revision 1999-01-01",
    appliesTo: "any",
    severity: "error",
    remedy: "Answer initialize with the client's revision only if the server speaks it; else with its own newest.",
    async run(ground) {
      const isSessioned = ground.stays.some(({ visit }) => visit?.isStateless === false);
      if (!isSessioned) return skip("it speaks no revision with initialize");
      const clientInfo = { name: "plenum-doctor", version: "0" };
      const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo };
      const answer = await ground.askAlone({ jsonrpc: "2.0", id: "doctor-version", method: "initialize", params });
      if (answer.kind === "none")
        return found([{ message: `It is not answered: ${answer.why}.`, severity: "warning" }]);
      if (answer.kind === "error") return found([], `refuses it: ${describeAnswer(answer)}`);
      const { protocolVersion } = answer.result;
      if (protocolVersion !== "1999-01-01") return found([], `answers ${String(protocolVersion)}`);
      return found([{ message: "It claims to speak 1999-01-01: it repeats whatever revision it is asked for." }]);
    },
  },
  {
    id: "connects/identity",
    title: "It says who it is",
    looksAt: "the name and version that it gives, and its instructions",
    appliesTo: "any",
    severity: "note",
    remedy: "Give the server a name and a version; hosts show them, and logs are read by them.",
    run({ main }) {
      const { info, instructions } = main.client.server;
      const findings: Finding[] = [];
      if (!info?.name?.trim()) findings.push({ message: "It gives no name." });
      if (!info?.version?.trim()) findings.push({ message: "It gives no version." });
      if (instructions !== undefined && instructions.length > 8000) {
        findings.push({
          message: `Its instructions have ${instructions.length} characters, which every conversation pays for.`,
          remedy: "Say in the instructions how the tools go together, and leave the rest to their descriptions.",
          severity: "warning",
        });
      }
      return found(findings, info && `${info.name} ${info.version}`);
    },
  },
  {
    id: "connects/ping",
    spansRevisions: true,
    title: "It answers pings",
    looksAt: "the answer to ping, in revisions that have it",
    appliesTo: "any",
    severity: "error",
    remedy: "Answer ping with an empty result at any time: clients take silence for a lost connection.",
    async run({ stays }) {
      const findings: Finding[] = [];
      const sessioned = stays.flatMap(({ visit }) => (visit && !visit.isStateless ? [visit] : []));
      if (sessioned.length === 0) return skip("it speaks no revision with ping");
      for (const visit of sessioned) {
        const answer = await visit.askOnce("ping");
        if (answer.kind === "result" || findings.some(({ revision }) => revision === visit.revision)) continue;
        findings.push({ message: `ping was answered with ${describeAnswer(answer)}.`, revision: visit.revision });
      }
      return found(findings);
    },
  },
];

function toReason({ error, record }: Stay): string {
  const noise = record.firstAnswerMs === undefined ? "" : " It does answer, but not in the way of the protocol.";
  const last = record.events.at(-1);
  const end = last?.kind === "closed" && last.cause instanceof Error ? last.cause.message : "";
  // How a process ended is known when its connection is closed, and that may be after the error.
  const reason = reasonOf(error).includes(end) ? reasonOf(error) : `${reasonOf(error)}: ${end}`;
  return `There is no connection to be had: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}${noise}`;
}
