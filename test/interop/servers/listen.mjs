// How the HTTP servers of this folder are started: on a free port of 127.0.0.1, until their standard input ends.
// Standard output has one JSON value per line: first the address, then every request as it comes.
import { createServer } from "node:http";

/** `handle` is given the path; what it does not know is answered with 404. */
export function listen(handle) {
  const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
  const server = createServer((req, res) => {
    const { pathname: path } = new URL(req.url, "http://127.0.0.1");
    const { headers, method } = req;
    tell({
      method,
      path,
      ...(headers["mcp-session-id"] && { session: headers["mcp-session-id"] }),
      ...(headers["mcp-protocol-version"] && { revision: headers["mcp-protocol-version"] }),
      ...(headers["last-event-id"] && { lastEventId: headers["last-event-id"] }),
    });
    Promise.resolve(handle(req, res, path)).catch((error) => {
      process.stderr.write(`${error.stack}\n`);
      if (!res.headersSent) res.writeHead(500);
      res.end();
    });
  });
  server.listen(0, "127.0.0.1", () => tell({ origin: `http://127.0.0.1:${server.address().port}` }));
  process.stdin.on("close", () => process.exit()).resume();
}

export function refuse(res, status, message) {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
}
