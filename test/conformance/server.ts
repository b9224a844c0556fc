// The everything server as a program: over HTTP on 127.0.0.1, with HTTP+SSE beside it, or over stdio.
//   --port N            the port, 0 for any (default)
//   --answers stream    every answer is a stream of events, not only those that need one
//   --stdio             stdin and stdout instead of HTTP
import { parseArgs } from "node:util";
import { serveHttp } from "plenum/http/node";
import { serveStdio } from "plenum/stdio";
import { createEverythingServer } from "./fixture/everything.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    answers: { type: "string", default: "auto" },
    stdio: { type: "boolean", default: false },
  },
});

const server = createEverythingServer();
if (values.stdio) serveStdio(server);
else await listen();

async function listen(): Promise<void> {
  const answers = values.answers === "stream" ? "stream" : "auto";
  const serving = await serveHttp(server, { port: Number(values.port), host: "127.0.0.1", sse: true, answers });
  let isClosing = false;
  const close = async (): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    await serving.close();
    await server.close();
  };
  process.once("SIGINT", close);
  process.once("SIGTERM", close);
  // A signal to npm ends npm and its shell, but does not come here.
  const { ppid } = process;
  if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== ppid && close(), 500).unref();
  console.log(`listening on ${serving.url}, HTTP+SSE on ${new URL("/sse", serving.url)}`);
}
