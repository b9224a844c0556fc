// A guided tour: a client and a server talk in the oldest and the newest revision of the protocol, and a tool asks its
// user in both eras. What passes between them is shown as the client sees it. Run it with `npm run tour`.
import { type Client, connect, type Endpoint, type Revision } from "plenum";
import { memoryTarget } from "plenum/memory";
import { type TapEvent, tapTarget } from "plenum/tap";
import { createDeployServer } from "./ask-user.ts";
import { createNotesServer } from "./notes.ts";

const width = 120;
const say = (text: string): void => console.log(`\n  ${text}`);

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

/** Prints each message. `_meta`, which is the same on every request, is shown once, and of a sealed state the beginning. */
function createReport(): (event: TapEvent) => void {
  let sent = 0;
  const shorten = (key: string, value: unknown): unknown =>
    key === "requestState" ? `${String(value).slice(0, 24)}…` : key === "_meta" && sent > 1 ? undefined : value;
  return (event) => {
    if (event.kind === "closed" || event.kind === "failed") return;
    if (event.kind === "received" && !("message" in event.incoming)) return;
    if (event.kind === "sent") sent++;
    const message = event.kind === "sent" ? event.message : "message" in event.incoming && event.incoming.message;
    const { method, params, result, error } = JSON.parse(JSON.stringify(message, shorten));
    const label = `  ${event.kind === "sent" ? "→" : "←"} ${method ? `${method} ` : error ? "error " : ""}`;
    const body = params ?? result ?? error ?? {};
    console.log(Object.keys(body).length > 0 ? label + format(body, label.length) : label.trimEnd());
  };
}

async function visit(server: Endpoint, revision: Revision, tour: (client: Client) => Promise<void>): Promise<void> {
  const client = await connect(tapTarget(memoryTarget(server), createReport()), {
    revision,
    info: { name: "tour", version: "1.0.0" },
    onElicit: ({ defaults }) => ({ action: "accept", content: { ...defaults, confirm: true } }),
  });
  await tour(client);
  await client.close();
}

async function takeNotes(client: Client): Promise<void> {
  say("The tools. A revision gets only what it defines: the oldest knows no titles and no output schema.");
  await client.listTools().all();
  say("A call. The result is an object; where there is no structured content, its JSON is the text.");
  const note = { title: `From ${client.revision}`, content: "Written on the tour" };
  await client.callTool("create_note", note);
  say("A call with a mistake: an error for the program, or since 2025-11-25 a result that the model can read.");
  await client.callTool("create_note", { title: "No content" }).catch(() => {});
  say("The notes are resources.");
  await client.readResource("note:///1");
}

async function deploy(client: Client): Promise<void> {
  say("A tool that builds, asks its user, and deploys. The client agrees.");
  await client.callTool("deploy", { env: "staging" });
}

const [notes, deployment] = [createNotesServer(), createDeployServer((line) => console.log(`    the server: ${line}`))];
console.log("Plenum: servers and clients that speak five revisions of MCP. Here are the oldest and the newest.");

console.log("\n═══ 2024-11-05 ═══");
say("examples/notes.ts. A handshake opens the session:");
await visit(notes, "2024-11-05", takeNotes);

console.log("\n═══ 2025-06-18 ═══");
say("examples/ask-user.ts, in the first revision that has forms. In a session a question is a request to the client:");
await visit(deployment, "2025-06-18", deploy);

console.log("\n═══ 2026-07-28 ═══");
say(
  "examples/notes.ts. No handshake: each request says in its _meta (left out below) who asks, and in which revision.",
);
await visit(notes, "2026-07-28", takeNotes);
say("examples/ask-user.ts. Nobody waits: a question is a result, and the call is sent again with the answer and the");
console.log("  sealed state. The handler runs anew; its step, the build, is remembered.");
await visit(deployment, "2026-07-28", deploy);

console.log("\nThe code of both servers is the same for all of them. README.md shows how to write your own.");
