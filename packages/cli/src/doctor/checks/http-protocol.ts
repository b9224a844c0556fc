// The transport over HTTP: statuses for what is wrong with a request, and sessions.
import { type Check, type Finding, found, skip, type Verdict } from "../check.ts";
import type { Ground } from "../ground.ts";
import { type Probe, type ProbeAnswer, type Prober, type Session, toText } from "../http-probe.ts";
import { reasonOf } from "../visit.ts";

const question = toText({ id: "probe", method: "tools/list", params: {} });

/** The status, or why there is none. */
async function statusOf(prober: Prober, probe: Probe): Promise<number | string> {
  try {
    return (await prober.send(probe)).status;
  } catch (error) {
    return reasonOf(error);
  }
}

/** A finding for a server that breaks, or does not refuse what it must. */
function judgeStatus(
  status: number | string,
  what: string,
  where: string,
  isOk: (status: number) => boolean,
): Finding[] {
  if (typeof status === "string") return [{ message: `${what} is not answered: ${status}.`, where }];
  if (status >= 500 && status !== 501)
    return [
      {
        message: `${what} is answered with ${status}: it is the request that is wrong, not the server.`,
        where,
        severity: "error",
      },
    ];
  return isOk(status) ? [] : [{ message: `${what} is answered with ${status}.`, where }];
}

const isRefused = (status: number): boolean => status >= 400;

/** Runs in a session of its own; where the server has none, the check is not for it. */
async function inSession(
  ground: Ground,
  run: (prober: Prober, session: Session) => Promise<Verdict>,
): Promise<Verdict> {
  const prober = await ground.prober();
  const session = await prober.openSession();
  if (!session) return skip("it opens no sessions with an id");
  try {
    return await run(prober, session);
  } finally {
    await session.end().catch(() => {});
  }
}

function postOf({ url }: Prober): string {
  return `POST ${url.pathname}`;
}

async function judgeContentType(ground: Ground) {
  const prober = await ground.prober();
  const opening = prober.opening();
  const headers = { ...opening.headers, "content-type": "text/plain" };
  const status = await statusOf(prober, { ...opening, headers });
  return found(judgeStatus(status, "JSON as text/plain", postOf(prober), isRefused));
}

async function judgeAccept(ground: Ground) {
  const prober = await ground.prober();
  const opening = prober.opening();
  const findings: Finding[] = [];
  for (const accept of [undefined, "text/html"]) {
    const status = await statusOf(prober, { ...opening, headers: { ...opening.headers, accept } });
    findings.push(
      ...judgeStatus(
        status,
        `A request ${accept ? `with Accept: ${accept}` : "without Accept"}`,
        postOf(prober),
        () => true,
      ),
    );
  }
  return found(findings);
}

async function judgeBody(ground: Ground) {
  const prober = await ground.prober();
  const findings: Finding[] = [];
  for (const [what, body] of [
    ["JSON that is cut off", '{"jsonrpc":"2.0","id":1,'],
    ["A body that is no message", "42"],
    ["An empty body", ""],
  ] as const) {
    const status = await statusOf(prober, { ...prober.opening(), body });
    findings.push(...judgeStatus(status, what, postOf(prober), isRefused));
  }
  return found(findings);
}

async function judgeLarge(ground: Ground) {
  const prober = await ground.prober();
  const { body: _, ...opening } = prober.opening();
  const body = toText({ id: "probe", method: "ping", params: { _meta: { padding: "x".repeat(5 * 1024 * 1024) } } });
  const status = await statusOf(prober, { ...opening, body });
  const where = postOf(prober);
  // A connection that is closed in the midst of it is a way to refuse.
  const findings = typeof status === "number" ? judgeStatus(status, "A body of 5 MB", where, () => true) : [];
  if (await ground.main.isAlive())
    return found(findings, typeof status === "number" ? `answers ${status}` : "closes the connection");
  return found([
    ...findings,
    { message: "After a body of 5 MB it does not answer any more.", where, severity: "error" },
  ]);
}

async function judgeGet(ground: Ground) {
  const prober = await ground.prober();
  const status = await statusOf(prober, { method: "GET", headers: { accept: "text/event-stream" } });
  return found(judgeStatus(status, "GET without a session", `GET ${prober.url.pathname}`, () => true));
}

const judgeUnknownSession = (ground: Ground) =>
  inSession(ground, async (prober, { headers }) => {
    const unknown = { ...headers, "mcp-session-id": "00000000-0000-4000-8000-plenumdoctor" };
    const status = await statusOf(prober, { headers: unknown, body: question });
    const where = postOf(prober);
    if (typeof status === "number" && status < 400)
      return found([
        { message: `A session that it never opened is answered with ${status}.`, where, severity: "error" },
      ]);
    return found(judgeStatus(status, "A session that it does not know", where, (one) => one === 404));
  });

const judgeNoSession = (ground: Ground) =>
  inSession(ground, async (prober, { headers }) => {
    const without = { ...headers, "mcp-session-id": undefined };
    const status = await statusOf(prober, { headers: without, body: question });
    return found(judgeStatus(status, "A request without the id of its session", postOf(prober), isRefused));
  });

const judgeVersion = async (ground: Ground): Promise<Verdict> => {
  const { revision, isStateless } = ground.main;
  if (revision < "2025-06-18") return skip(`${revision} does not have the header`);
  const prober = await ground.prober();
  const session = isStateless ? undefined : await prober.openSession();
  const opening = isStateless ? prober.opening() : { headers: session?.headers, body: question };
  const probe = { ...opening, headers: { ...opening.headers, "mcp-protocol-version": "1999-01-01" } };
  const status = await statusOf(prober, probe);
  await session?.end().catch(() => {});
  return found(judgeStatus(status, "MCP-Protocol-Version: 1999-01-01", postOf(prober), (one) => one === 400));
};

async function judgeMismatch(ground: Ground): Promise<Verdict> {
  if (!ground.main.isStateless) return skip(`${ground.main.revision} has no such headers`);
  const prober = await ground.prober();
  const opening = prober.opening();
  const status = await statusOf(prober, { ...opening, headers: { ...opening.headers, "mcp-method": "tools/list" } });
  return found(judgeStatus(status, "Mcp-Method that is not the method of the body", postOf(prober), isRefused));
}

const judgeSessionId = (ground: Ground) =>
  inSession(ground, async (prober, first) => {
    const second = await prober.openSession();
    await second?.end().catch(() => {});
    const findings: Finding[] = [];
    const { id } = first;
    if (!/^[\x21-\x7e]+$/.test(id)) findings.push({ message: "It has characters that are not visible ASCII." });
    if (id.length < 16) findings.push({ message: `It has ${id.length} characters: it can be guessed.` });
    if (second && second.id === id) findings.push({ message: "Two sessions have the same one." });
    else if (second && isNext(id, second.id)) findings.push({ message: "It counts up: the next one can be guessed." });
    return found(findings.map((finding) => ({ ...finding, where: "Mcp-Session-Id" })));
  });

/** Whether two ids differ in a number at their end alone, and hardly. */
function isNext(first: string, second: string): boolean {
  const [, head, number] = /^(.*?)(\d{1,15})$/.exec(first) ?? [];
  const [, otherHead, other] = /^(.*?)(\d{1,15})$/.exec(second) ?? [];
  return head !== undefined && head === otherHead && Math.abs(Number(number) - Number(other)) <= 100;
}

const judgeEnd = async (ground: Ground): Promise<Verdict> => {
  const prober = await ground.prober();
  const session = await prober.openSession();
  if (!session) return skip("it opens no sessions with an id");
  const where = `DELETE ${prober.url.pathname}`;
  let ended: ProbeAnswer;
  try {
    ended = await session.end();
  } catch (error) {
    return found([{ message: `It is not answered: ${reasonOf(error)}.`, where }]);
  }
  if (ended.status === 405) return found([], "it does not let clients end sessions");
  const findings = judgeStatus(ended.status, "The end of a session", where, (status) => status < 300);
  if (ended.status >= 300) return found(findings);
  const status = await statusOf(prober, { headers: session.headers, body: question });
  return found([
    ...findings,
    ...judgeStatus(status, "A request in a session that was ended", where, (one) => one === 404 || one === 400),
  ]);
};

const usual = { appliesTo: "http", severity: "error" } as const;

/** Statuses say nothing where the server does not take a right request either. */
function overStreamable(run: Check["run"]): Check["run"] {
  return async (ground) => {
    const prober = await ground.prober();
    return (await prober.isStreamable())
      ? run(ground)
      : skip("it does not take requests by POST, as Streamable HTTP has it");
  };
}

const rows: readonly Check[] = [
  {
    ...usual,
    id: "http/content-type",
    title: "A body that is not application/json is refused",
    looksAt: "a request with Content-Type: text/plain",
    severity: "warning",
    remedy: "Answer it with 415: browsers send text/plain to any server without asking first.",
    run: judgeContentType,
  },
  {
    ...usual,
    id: "http/accept",
    title: "A request without the right Accept does not break it",
    looksAt: "requests without Accept, and with Accept: text/html",
    remedy: "Answer it with 406, or as JSON.",
    run: judgeAccept,
  },
  {
    ...usual,
    id: "http/body",
    title: "A body that is no message is refused with 400",
    looksAt: "JSON that is cut off, a number, nothing",
    severity: "warning",
    remedy: "Catch the error of the parser, and answer with 400 and error -32700 or -32600.",
    run: judgeBody,
  },
  {
    ...usual,
    id: "http/large-body",
    title: "A body of 5 MB does not end the server",
    looksAt: "a request of 5 MB; then whether it still answers",
    severity: "warning",
    remedy: "Limit the size of bodies, and answer with 413 beyond it.",
    run: judgeLarge,
  },
  {
    ...usual,
    id: "http/get",
    title: "GET without a session does not break it",
    looksAt: "a GET for a stream, without a session",
    remedy: "Answer it with 405 or 400 where there is no stream to be had.",
    run: judgeGet,
  },
  {
    ...usual,
    id: "http/unknown-session",
    spansRevisions: true,
    title: "A session that it does not know is 404",
    looksAt: "a request with a made-up Mcp-Session-Id",
    severity: "warning",
    remedy: "Answer it with 404: it is what tells clients to begin a new session.",
    run: judgeUnknownSession,
  },
  {
    ...usual,
    id: "http/missing-session",
    spansRevisions: true,
    title: "A request without its session is refused",
    looksAt: "a request without Mcp-Session-Id, where the server gives one",
    severity: "warning",
    remedy: "Answer it with 400.",
    run: judgeNoSession,
  },
  {
    ...usual,
    id: "http/protocol-version",
    title: "A revision that it does not speak is 400",
    looksAt: "a request with MCP-Protocol-Version: 1999-01-01",
    remedy: "Look at the header, and answer with 400 what is not spoken.",
    run: judgeVersion,
  },
  {
    ...usual,
    id: "http/header-mismatch",
    title: "Headers that contradict the body are refused",
    looksAt: "from 2026-07-28 on: a request whose Mcp-Method is not its method",
    remedy:
      "Compare Mcp-Method and Mcp-Name with the body, and answer with 400: gateways let requests pass by these headers.",
    run: judgeMismatch,
  },
  {
    ...usual,
    id: "http/session-id",
    spansRevisions: true,
    title: "Ids of sessions cannot be guessed",
    looksAt: "Mcp-Session-Id of two sessions",
    remedy: "Take a random one, such as crypto.randomUUID().",
    run: judgeSessionId,
  },
  {
    ...usual,
    id: "http/session-end",
    spansRevisions: true,
    title: "Clients can end their sessions",
    looksAt: "DELETE, and a request after it",
    severity: "note",
    remedy: "Answer DELETE with 204 and forget the session, or with 405.",
    run: judgeEnd,
  },
];

export const httpProtocolChecks: readonly Check[] = rows.map((check) => ({ ...check, run: overStreamable(check.run) }));
