// An authorization server as a process of its own, for tests that run several on one store:
//   node … test/auth/as-process.ts ISSUER STORE-FILE PORT
// Prints where it listens.
import { createAuthorizationServer, fixedLogin } from "plenum/auth/authorization-server";
import { serveAuthorizationServer } from "plenum/auth/authorization-server/node";
import { fileTokens } from "plenum/auth/node";

const [issuer = "", file = "", port = "0"] = process.argv.slice(2);
const { origin } = await serveAuthorizationServer(
  createAuthorizationServer({
    issuer,
    resources: ["https://mcp.example.com/mcp"],
    login: fixedLogin("alice"),
    store: fileTokens(file),
    clients: [{ id: "server", secret: "a secret of the server" }],
  }),
  { port: Number(port) },
);
console.log(origin);
