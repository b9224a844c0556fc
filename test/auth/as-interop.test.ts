// The official clients, of both lines, log in at our authorization server for a server of ours: by registering, and by a document of
// their own; and they come back with what they were given, when a token has ended.
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "plenum";
import { requireAuth } from "plenum/auth/resource-server";
import { serveHttp } from "plenum/http/node";
import { describe, expect, test } from "vitest";
import { findPort } from "../find-port.ts";
import { allow, answerIn, closeAfter, openStage, type Stage } from "./front-stage.ts";

type Obj = { readonly [name: string]: unknown };

/** As far as the two lines are alike, and no further than is used here. */
interface Official {
  readonly Client: new (
    info: object,
  ) => {
    connect(transport: unknown): Promise<void>;
    callTool(call: object): Promise<unknown>;
    close(): Promise<void>;
  };
  readonly StreamableHTTPClientTransport: new (
    url: URL,
    options: object,
  ) => { finishAuth(code: string, iss?: string): Promise<void> };
}

// By a name that the compiler does not follow: the types of one lead it to the source of another package.
const load = async (...names: readonly string[]): Promise<Official> =>
  Object.assign({}, ...(await Promise.all(names.map((name) => import(name)))));

const lines = [
  ["1.x", ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/streamableHttp.js"]],
  ["2.x", ["@modelcontextprotocol/client"]],
] as const;

const callback = "http://127.0.0.1:1/callback";

/** What a client of theirs is told to keep, and where it sends its user. */
function createProvider() {
  const kept = {
    client: undefined as Obj | undefined,
    tokens: undefined as Obj | undefined,
    verifier: "",
    page: undefined as URL | undefined,
    found: undefined as Obj | undefined,
  };
  return {
    kept,
    redirectUrl: callback,
    clientMetadata: {
      client_name: "Official",
      redirect_uris: [callback],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => "their state",
    clientInformation: () => kept.client,
    saveClientInformation(client: Obj) {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens(tokens: Obj) {
      kept.tokens = tokens;
    },
    redirectToAuthorization(page: URL) {
      kept.page = page;
    },
    saveCodeVerifier(verifier: string) {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier,
    saveDiscoveryState(found: Obj) {
      kept.found = found;
    },
    discoveryState: () => kept.found,
  };
}

async function openNotes(): Promise<{ readonly stage: Stage; readonly url: URL }> {
  const port = await findPort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const stage = await openStage({ resources: [url] });
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, ctx) => `${ctx.auth?.subject} ${ctx.auth?.scopes.join()}`);
  const auth = requireAuth({ verify: stage.server.verifier, resource: url, scopes: ["notes:read"] });
  const serving = await serveHttp(server, { port, auth });
  closeAfter(() => serving.close(0));
  return { stage, url: new URL(url) };
}

async function serveDocument(): Promise<string> {
  const server = createHttp((request, response) => {
    const id = `http://127.0.0.1:${(server.address() as AddressInfo).port}${request.url}`;
    const document = { client_id: id, client_name: "Official", redirect_uris: [callback] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeAfter(() => new Promise((resolve) => server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/client.json`;
}

describe.each(lines)("the official client %s", (_, names) => {
  test.each(["registers", "is known by its document"])("%s, logs in, and refreshes", async (how) => {
    const { Client, StreamableHTTPClientTransport } = await load(...names);
    const { stage, url } = await openNotes();
    const provider = createProvider();
    const { kept } = provider;
    // They take no address for an id that is not https: as if it had been told before.
    if (how !== "registers") kept.client = { client_id: await serveDocument() };
    const open = () => new StreamableHTTPClientTransport(url, { authProvider: provider });
    const first = open();
    await expect(new Client({ name: "official", version: "1.0.0" }).connect(first)).rejects.toThrow(/unauthorized/i);
    const { code = "", iss, state } = answerIn(await allow(stage.browse(), kept.page?.href ?? ""));
    expect(state).toBe("their state");
    await first.finishAuth(code, iss);
    const call = async (): Promise<unknown> => {
      const client = new Client({ name: "official", version: "1.0.0" });
      await client.connect(open());
      try {
        return await client.callTool({ name: "whoami", arguments: {} });
      } finally {
        await client.close();
      }
    };
    const mine = { content: [{ type: "text", text: "alice notes:read" }] };
    expect(await call()).toMatchObject(mine);
    const before = kept.tokens?.refresh_token;
    // As if it had ended.
    kept.tokens = { ...kept.tokens, access_token: "ended" };
    expect(await call()).toMatchObject(mine);
    expect(kept.tokens?.refresh_token).not.toBe(before);
  });
});
