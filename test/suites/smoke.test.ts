import { revisions } from "plenum";
import { describe, expect, test } from "vitest";
import { createNotesServer } from "../../examples/notes.ts";
import { openPeer } from "./peer.ts";

describe.each(revisions)("notes in %s", (revision) => {
  test("works", async () => {
    const peer = await openPeer(createNotesServer(), revision);
    console.log(revision, JSON.stringify(await peer.call("tools/list")));
    console.log(
      JSON.stringify(
        await peer.request("tools/call", { name: "create_note", arguments: { title: "a", content: "b" } }),
      ),
    );
    console.log(JSON.stringify(await peer.request("tools/call", { name: "create_note", arguments: { title: "a" } })));
    console.log(JSON.stringify(await peer.call("resources/list")));
    console.log(JSON.stringify(await peer.request("resources/read", { uri: "note:///1" })));
    console.log(JSON.stringify(await peer.request("resources/read", { uri: "note:///77" })));
    console.log(JSON.stringify(await peer.call("prompts/get", { name: "summarize_notes" })));
    console.log(
      JSON.stringify(
        await peer.request("completion/complete", {
          ref: { type: "ref/resource", uri: "note:///{id}" },
          argument: { name: "id", value: "" },
        }),
      ),
    );
    expect(1).toBe(1);
  });
});
