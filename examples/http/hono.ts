// In a Hono application, beside its own routes; on Node here, and with the same route wherever Hono runs.
//   PORT=3000 node --conditions=plenum-source --import tsx examples/http/hono.ts
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { toFetchHandler } from "plenum/http";
import { createLaunchPad } from "./launch-pad.ts";

const app = new Hono();
const handler = toFetchHandler(createLaunchPad());

app.get("/", (c) => c.text("The pad is at /mcp."));
app.all("/mcp", (c) => handler(c.req.raw));

const listener = serve(
  { fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env.PORT ?? 3000) },
  ({ port }) => {
    console.log(`listening on http://127.0.0.1:${port}/mcp`);
  },
);

// Calls that run may finish; then the listener has nothing left to wait for.
process.once("SIGTERM", async () => {
  await handler.close();
  listener.close();
});
