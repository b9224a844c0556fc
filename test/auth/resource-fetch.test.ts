// A protected server on a runtime of Request and Response, which finds a header by any spelling of its name.
import { createServer } from "plenum";
import { requireAuth } from "plenum/auth/resource-server";
import { toFetchHandler } from "plenum/http";
import { expect, test } from "vitest";
import { modernBody, modernHeaders } from "../http/callers.ts";
import { covers } from "../requirements/covers.ts";
import { resource } from "./issuer.ts";

test("the token goes no further than the door, however its header is asked for", async () => {
  covers(["auth-flow-no-passthrough"]);
  const seen: (string | undefined)[] = [];
  const server = createServer({ name: "notes", version: "1.0.0" });
  server.tool("whoami", {}, (_, { sender }) => {
    for (const name of ["authorization", "Authorization", "DPOP", "X-Other"]) seen.push(sender?.header?.(name));
    return "done";
  });
  const auth = requireAuth({
    verify: async () => ({ subject: "ann", scopes: [], audience: true }),
    authorizationServers: ["https://login.example.com"],
    resource,
  });
  const handle = toFetchHandler(server, { auth, allowedHosts: [new URL(resource).host] });
  const body = modernBody("tools/call", { name: "whoami", arguments: {} });
  const headers = { ...modernHeaders(body), authorization: "Bearer a-secret", dpop: "a-proof", "x-other": "here" };
  const request = new Request(resource, { method: "POST", headers: headers as never, body: JSON.stringify(body) });
  const response = await handle(request);
  expect(response.status).toBe(200);
  expect(seen).toEqual([undefined, undefined, undefined, "here"]);
  await handle.close(0);
});
