// Over HTTP on plain Node. A client of any revision is served at the one address.
//   PORT=3000 node --conditions=plenum-source --import tsx examples/http/node.ts
import { serveHttp } from "plenum/http/node";
import { createLaunchPad } from "./launch-pad.ts";

const http = await serveHttp(createLaunchPad(), { port: Number(process.env.PORT ?? 3000) });
console.log(`listening on ${http.url}`);

// Calls that run may finish; then the process ends by itself.
process.once("SIGTERM", () => http.close());
