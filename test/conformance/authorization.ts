// The suite's scenarios for an authorization server, against ours. One of them waits for somebody with a browser: that is played
// here, by HTTP alone.
import { createAuthorizationServer, fixedLogin } from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { findPort } from "../find-port.ts";
import { judge } from "./judge.ts";
import { createFolder, readResults, runSuite } from "./suite.ts";
import type { Table } from "./table.ts";

const scenarios = ["authorization-server-metadata-endpoint", "authorization-code-grant"];
const clientId = "conformance";
const resource = "https://mcp.example.com/mcp";
const timeoutMs = 60_000;

export async function runAuthorizationScenarios(table: Table): Promise<void> {
  const title = (what: string): string => `authorization server ${what}`;
  if (![...scenarios, "exit code"].some((what) => table.wants(title(what)))) return;
  const port = await findPort();
  const serving = await serveAuthorizationServer((issuer) =>
    createAuthorizationServer({
      issuer,
      resources: [resource],
      login: fixedLogin("somebody"),
      clients: [{ id: clientId, redirectUris: [`http://127.0.0.1:${port}/callback`] }],
    }),
  );
  try {
    const folder = createFolder("authorization");
    const args = ["--url", serving.origin, "--client-id", clientId, "--resource", resource, "--port", String(port)];
    let visit: Promise<void> | undefined;
    const { code, output } = await runSuite(["authorization", ...args, "-o", folder], timeoutMs, (text) => {
      const [page] = /http:\S+\/authorize\?\S+(?=\s)/.exec(text) ?? [];
      if (page !== undefined) visit ??= walk(page);
    });
    const problem = await visit?.then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const results = readResults(folder, "client");
    for (const name of scenarios) {
      const checks = results.get(`authorization-server-${name}`);
      if (table.wants(title(name)))
        table.add(title(name), judge(name, checks), { checks: checks?.length, group: title("scenarios") });
    }
    const row = title("exit code");
    const problems = [
      ...(code === 0 ? [] : [`the suite ended with ${code}:\n${output.slice(-3000)}`]),
      problem ?? [],
    ].flat();
    if (table.wants(row)) table.add(row, problems);
  } finally {
    await serving.close(0);
  }
}

/** As a browser does it: goes where it is sent, keeps cookies, and says yes on the one page that asks. */
async function walk(page: string): Promise<void> {
  const { origin } = new URL(page);
  const cookies = new Map<string, string>();
  let [url, init]: [string, RequestInit] = [page, {}];
  for (let i = 0; i < 10; i++) {
    const isOwn = new URL(url).origin === origin;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      headers: isOwn ? { origin, cookie } : {},
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    if (!isOwn) return;
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    const [, action] = /<form method="post" action="([^"]+)">/.exec(text) ?? [];
    const next = location ?? action?.replaceAll("&amp;", "&");
    if (next === undefined) throw new Error(`the page leads nowhere: ${response.status}\n${text.slice(0, 1000)}`);
    const fields = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
    const form = new URLSearchParams({
      ...Object.fromEntries(fields.map(([, name, value]) => [name, value])),
      // Of a client that registers itself the user says that he knows it.
      sure: "on",
      answer: "allow",
    });
    url = new URL(next, url).href;
    init = location === null ? { method: "POST", body: form } : {};
  }
  throw new Error("the pages lead in a circle");
}
