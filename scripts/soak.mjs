// Starts the load test of test/soak, each of its two processes as one plain file: closures that a loader has named take
// several times the memory of plain ones.
//   npm run soak -- --seconds 60
import { pathToFileURL } from "node:url";
import { bundleProgram } from "./program.mjs";

const server = await bundleProgram("test/soak/server.ts");
const load = await bundleProgram("test/soak/run.ts");
process.argv = [process.argv[0], load, server, ...process.argv.slice(2)];
await import(pathToFileURL(load).href);
