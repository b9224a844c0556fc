// A notes server: each note is a resource, a tool writes new ones, a prompt hands them all to a model.
// Run as a program it serves stdio: node --conditions=plenum-source --import tsx examples/notes.ts
import { pathToFileURL } from "node:url";
import { createServer, embedded, ToolError } from "plenum";
import { serveStdio } from "plenum/stdio";
import { z } from "zod";

export function createNotesServer() {
  const notes = new Map([
    ["1", { title: "First Note", content: "This is note 1" }],
    ["2", { title: "Second Note", content: "This is note 2" }],
  ]);
  const server = createServer({
    name: "notes",
    version: "1.0.0",
    instructions: "Read a note before you answer questions about it.",
  });

  server.resource(
    "note:///{id}",
    {
      name: "note",
      description: "A text note",
      mimeType: "text/plain",
      list: () =>
        [...notes].map(([id, { title }]) => ({
          uri: `note:///${id}`,
          name: title,
          description: `A text note: ${title}`,
          mimeType: "text/plain",
        })),
      complete: { id: (typed) => [...notes.keys()].filter((id) => id.startsWith(typed)) },
    },
    ({ id }) => notes.get(id)?.content,
  );

  server.tool(
    "create_note",
    {
      title: "Create a note",
      description: "Create a note, or write a new text into the one of that title",
      input: z.object({
        title: z.string().describe("Title of the note"),
        content: z.string().describe("Text of the note"),
      }),
      output: z.object({ id: z.string(), uri: z.string() }),
    },
    ({ title, content }) => {
      if (title.trim() === "") throw new ToolError("A note needs a title that is not blank.");
      const known = [...notes].find(([, note]) => note.title === title)?.[0];
      const id = known ?? String(notes.size + 1);
      notes.set(id, { title, content });
      // Clients that watch hear of it: of this note if it was there, of the list if it is new.
      if (known) server.resourceUpdated(`note:///${id}`);
      else server.resourcesChanged();
      return { id, uri: `note:///${id}` };
    },
  );

  server.prompt("summarize_notes", { description: "Summarize all notes" }, () => [
    "Please summarize the following notes:",
    ...[...notes].map(([id, note]) => embedded({ uri: `note:///${id}`, mimeType: "text/plain", text: note.content })),
    "Provide a concise summary of all the notes above.",
  ]);

  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) serveStdio(createNotesServer());
