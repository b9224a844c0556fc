// A guided tour of the notes server, in memory: the same server object speaks the oldest and the newest revision of
// the protocol. Run it with `npm start`.
import type { Revision } from "plenum";
import { createRawPeer } from "plenum/memory";
import { createNotesServer } from "./notes.ts";

const width = 120;
const server = createNotesServer();

/** JSON for reading: on one line where it fits, otherwise one member a line, and each of those by the same rule. */
function format(value: unknown, before: number, indent = "    "): string {
  const line = JSON.stringify(value, undefined, 1).replace(/\n\s*/g, " ");
  if (before + line.length <= width || typeof value !== "object" || value === null) return line;
  const inner = `${indent}  `;
  const [first, last] = Array.isArray(value) ? "[]" : "{}";
  const members = Object.entries(value).map(([name, member]) => {
    const label = Array.isArray(value) ? "" : `${JSON.stringify(name)}: `;
    return `${label}${format(member, inner.length + label.length, inner)}`;
  });
  return `${first}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${last}`;
}

function say(label: string, value: unknown): void {
  console.log(value === undefined ? label.trimEnd() : `${label}${format(value, label.length)}`);
}

async function tour(revision: Revision): Promise<void> {
  const peer = createRawPeer(server);
  const client = { name: "tour", version: "1.0.0" };
  const isStateless = revision === "2026-07-28";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": client,
  };
  let isFirst = true;

  const ask = async (what: string, method: string, params: object = {}): Promise<void> => {
    // `_meta` is the same on every request of the newest revision: shown once.
    const sent = isStateless ? { ...params, _meta } : params;
    const shown = isFirst ? sent : params;
    isFirst = false;
    console.log(`\n  ${what}`);
    say(`  → ${method} `, Object.keys(shown).length > 0 ? shown : undefined);
    const { result, error } = (await peer.request(method, sent)) as { result?: object; error?: object };
    say(error ? "  ← error " : "  ← ", error ?? result);
  };

  console.log(`\n═══ ${revision} ═══`);
  if (isStateless) {
    await ask(
      "No handshake: every request says in its _meta (left out below) who asks, and in which revision. A look at the server:",
      "server/discover",
    );
  } else {
    const hello = { protocolVersion: revision, capabilities: {}, clientInfo: client };
    await ask("A handshake opens the session:", "initialize", hello);
    peer.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }
  await ask(
    "The tools. A revision gets only what it defines: the oldest knows no titles and no output schema.",
    "tools/list",
  );
  await ask(
    "A call. The result is an object; where there is no structured content, its JSON is the text.",
    "tools/call",
    { name: "create_note", arguments: { title: `From ${revision}`, content: "Written on the tour" } },
  );
  await ask(
    "A call with a mistake: an error for the program, or since 2025-11-25 a result that the model can read.",
    "tools/call",
    { name: "create_note", arguments: { title: "No content" } },
  );
  await ask("The notes are resources …", "resources/list");
  await ask("… to be read.", "resources/read", { uri: "note:///1" });
  await ask("A prompt hands them to a model.", "prompts/get", { name: "summarize_notes" });
  peer.close();
}

console.log("Plenum: one server object, five revisions of MCP. Here are the oldest and the newest.");
await tour("2024-11-05");
await tour("2026-07-28");
await server.close();
console.log("\nThat was examples/notes.ts. README.md shows how to write your own.");
