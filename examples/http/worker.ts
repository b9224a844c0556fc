// A Worker: `wrangler dev examples/http/worker.ts`. The copies of it that serve the world share nothing: no session is
// kept, which 2026-07-28 does not need, and a tool that asks needs a secret that all of them have.
import { env } from "cloudflare:workers";
import { toFetchHandler } from "plenum/http";
import { createLaunchPad } from "./launch-pad.ts";

export default {
  // Deployed, it is called by a name: `allowedHosts: ["launch-pad.example.workers.dev"]`, or `auth`.
  fetch: toFetchHandler(createLaunchPad(env.SECRET), { path: "/mcp", sessions: false }),
};
