// In a Fastify application, beside its own routes. In a scope of its own no body is parsed: the handler reads it itself,
// with its own limits.
//   PORT=3000 node --conditions=plenum-source --import tsx examples/http/fastify.ts
import fastify from "fastify";
import { toNodeHandler } from "plenum/http/node";
import { createLaunchPad } from "./launch-pad.ts";

// Connections without a request would keep it from ending; the handler has ended what was open by then.
const app = fastify({ forceCloseConnections: true });
const handler = toNodeHandler(createLaunchPad());

app.get("/", () => "The pad is at /mcp.");
app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, done) => done(null));
  scope.all("/mcp", (request, reply) => {
    reply.hijack();
    handler(request.raw, reply.raw);
  });
});

const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" });
console.log(`listening on ${address}/mcp`);

// Calls that run may finish; then the application has nothing left to wait for.
process.once("SIGTERM", async () => {
  await handler.close();
  await app.close();
});
