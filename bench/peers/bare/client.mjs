// The floor of a client: node:http with connections that are kept, or lines over stdio. No SDK.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";

let lastId = 0;

function frame(text) {
  const params = { name: "echo", arguments: { text } };
  return JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method: "tools/call", params });
}

/** The message in a body, which may be a stream of one event. */
const messageOf = (body) => JSON.parse(body.startsWith("{") ? body : body.slice(body.indexOf("data:") + 5));

function connectHttp(url) {
  const { hostname, port, pathname } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const call = (text) =>
    new Promise((resolve, reject) => {
      const body = frame(text);
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
      };
      const sent = request({ agent, host: hostname, port, path: pathname, method: "POST", headers }, (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          received += chunk;
        });
        response.on("end", () => resolve(messageOf(received).result));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  return { call, close: () => agent.destroy() };
}

function connectStdio([command, ...args]) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    const all = rest + chunk;
    let from = 0;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n", from)) {
      const { id, result } = JSON.parse(all.slice(from, end));
      from = end + 1;
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
    rest = all.slice(from);
  });
  const call = (text) =>
    new Promise((resolve) => {
      const line = frame(text);
      waiting.set(lastId, resolve);
      child.stdin.write(`${line}\n`);
    });
  const close = async () => {
    child.stdin.end();
    await once(child, "exit");
  };
  return { call, close };
}

export async function connect({ transport, url, command }) {
  return transport === "http" ? connectHttp(url) : connectStdio(command);
}
