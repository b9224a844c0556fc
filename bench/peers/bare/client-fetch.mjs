// The floor of a client on the global fetch, which the other SDKs' clients are built on.
let lastId = 0;

export async function connect({ url }) {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const call = async (text) => {
    const params = { name: "echo", arguments: { text } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method: "tools/call", params });
    const response = await fetch(url, { method: "POST", headers, body });
    const received = await response.text();
    return JSON.parse(received.startsWith("{") ? received : received.slice(received.indexOf("data:") + 5)).result;
  };
  return { call, close() {} };
}
