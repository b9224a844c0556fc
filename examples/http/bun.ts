// On Bun. It takes the built library: `npm ci && npm run build` once, in a clone of this repository.
//   PORT=3000 bun examples/http/bun.ts
import { toFetchHandler } from "plenum/http";
import { createLaunchPad } from "./launch-pad.ts";

const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT ?? 3000),
  idleTimeout: 60, // seconds; Bun's own ten are shorter than the pauses of a stream
  fetch: toFetchHandler(createLaunchPad(), { path: "/mcp" }),
});
console.log(`listening on http://127.0.0.1:${port}/mcp`);
