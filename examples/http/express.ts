// In an Express application, beside its own routes. A body parser that is used for all of them comes after this route:
// the handler reads the body itself, with its own limits.
//   PORT=3000 node --conditions=plenum-source --import tsx examples/http/express.ts
import type { AddressInfo } from "node:net";
import express from "express";
import { toNodeHandler } from "plenum/http/node";
import { createLaunchPad } from "./launch-pad.ts";

const app = express();
const handler = toNodeHandler(createLaunchPad());
app.all("/mcp", handler);
app.use(express.json());
app.get("/", (_request, response) => {
  response.send("The pad is at /mcp.");
});

const listener = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`);
});

// Calls that run may finish; then the listener has nothing left to wait for.
process.once("SIGTERM", async () => {
  await handler.close();
  listener.close();
});
