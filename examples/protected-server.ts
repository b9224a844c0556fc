// A protected server, with all that belongs to it, on one machine: an authorization server, an MCP server that checks its
// tokens, and a client that logs in. What it asks for to get leave is shown, and what the program asks for that stands in for the
// user; the calls themselves are not.
//   npm run example examples/protected-server.ts               a program stands in for the user
//   npm run example examples/protected-server.ts -- --browser  the user is you: log in as ann, password "tulip"
import { connect, createServer } from "plenum";
import { createAuthorizationServer, passwordLogin } from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { oauth } from "plenum/auth/client";
import { loopbackRedirect } from "plenum/auth/node";
import { requireAuth } from "plenum/auth/resource-server";
import { serveHttp } from "plenum/http/node";

const port = Number(process.env.PORT ?? 3939);
const resource = `http://127.0.0.1:${port}/mcp`;

// 1. Who knows the users, and gives tokens.
await using authorization = await serveAuthorizationServer((issuer) =>
  createAuthorizationServer({
    issuer,
    resources: [resource],
    scopes: { "notes:read": "Read your notes", "notes:write": "Change your notes" },
    login: passwordLogin({ check: (name, password) => name === "ann" && password === "tulip" }),
  }),
);

// 2. Who has something to protect.
const server = createServer({ name: "notes", version: "1.0.0" });
server.tool("list_notes", {}, (_, ctx) => `${ctx.auth?.subject} has no notes`);
server.tool("clear_notes", { scopes: ["notes:write"] }, (_, ctx) => `The notes of ${ctx.auth?.subject} are gone`);
await using http = await serveHttp(server, {
  port,
  auth: requireAuth({ verify: authorization.server.verifier, resource, scopes: ["notes:read"] }),
});

// 3. Who wants in. Nothing is known of the server but its address.
const show = (method: string, url: string, status: number): void => {
  const { host, pathname } = new URL(url);
  const who = host === `127.0.0.1:${port}` ? "server       " : "authorization";
  console.log(`  ${who} ${method.padEnd(4)} ${pathname} → ${status}`);
};
const auth = oauth({
  clientName: "The example",
  redirect: process.argv.includes("--browser")
    ? // For whoever has no browser that can be opened from here.
      loopbackRedirect({ onUrl: ({ href }) => console.log(`  Log in as ann, password "tulip", at\n  ${href}`) })
    : loopbackRedirect({ open: standIn }),
  async fetch(url, init) {
    const response = await fetch(url, init);
    show(init?.method ?? "GET", url, response.status);
    return response;
  },
});
/** Of the browser, whoever sits at it. */
const cookies = new Map<string, string>();

console.log(`authorization: ${authorization.origin}`);
console.log(`server:        ${http.url}`);
console.log("The client connects, and has to log in:");
await using client = await connect(http.url, { auth });
console.log("It calls a tool:");
console.log(`  ${(await client.callTool("list_notes")).text}`);
console.log("It calls a tool that takes more than it was allowed, and asks the user again:");
console.log(`  ${(await client.callTool("clear_notes")).text}`);

/** Does what a user does at a browser: fills in the forms that are shown, and follows where they lead. */
async function standIn(page: URL): Promise<void> {
  const typed: { readonly [field: string]: string } = {
    username: "ann",
    password: "tulip",
    sure: "on",
    answer: "allow",
  };
  let next: { readonly url: URL; readonly body?: URLSearchParams } = { url: page };
  for (let steps = 0; steps < 10; steps++) {
    const { url, body } = next;
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie, ...(body && { origin: url.origin }) },
      ...(body && { method: "POST", body }),
    });
    show(body ? "POST" : "GET", url.href, response.status);
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    if (location !== null) {
      next = { url: new URL(location, url) };
      // Back at the client, which listens for it.
      if (next.url.pathname === "/callback") return void (await fetch(next.url));
      continue;
    }
    const text = await response.text();
    const [, action] = /<form[^>]* action="([^"]*)"/.exec(text) ?? [];
    if (action === undefined) throw new Error(`A page without a form: ${response.status}`);
    const form = new URLSearchParams();
    for (const [, name = "", value = ""] of text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g))
      form.set(name, value);
    for (const [name, value] of Object.entries(typed)) if (text.includes(`name="${name}"`)) form.set(name, value);
    next = { url: new URL(action.replaceAll("&amp;", "&"), url), body: form };
  }
  throw new Error("The pages have no end");
}
