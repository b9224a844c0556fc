// On Deno. It takes the built library: `npm ci && npm run build` once, in a clone of this repository. With the last flag Deno
// says of a request that it was aborted only if it was.
//   PORT=3000 deno run --no-lock --allow-net --allow-env --unstable-no-legacy-abort examples/http/deno.ts
import { toFetchHandler } from "plenum/http";
import { createLaunchPad } from "./launch-pad.ts";

const handler = toFetchHandler(createLaunchPad(), { path: "/mcp" });
const port = Number(Deno.env.get("PORT") ?? 3000);
const onListen = (at: { port: number }) => console.log(`listening on http://127.0.0.1:${at.port}/mcp`);

Deno.serve({ hostname: "127.0.0.1", port, onListen }, (request) => handler(request));
