import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import type { ImageContent } from "../protocol/model.ts";
import { audio, embedded, image, type MediaData, type MediaFile, resourceLink, text } from "./content.ts";

const bytes = Uint8Array.of(1, 2, 3, 255);
const base64 = "AQID/w==";
const annotations = { audience: ["user"], priority: 1 } as const;

describe("text", () => {
  test("with and without annotations", () => {
    expect(text("hi")).toStrictEqual({ type: "text", text: "hi" });
    expect(text("hi", { annotations })).toStrictEqual({ type: "text", text: "hi", annotations });
  });
});

describe("image and audio from data", () => {
  test("bytes and base64 give the same block", () => {
    const block = { type: "image", data: base64, mimeType: "image/png" };
    expect(image({ data: bytes })).toStrictEqual(block);
    expect(image({ data: base64 })).toStrictEqual(block);
    expect(image({ data: bytes, annotations })).toStrictEqual({ ...block, annotations });
    expect(audio({ data: bytes })).toStrictEqual({ type: "audio", data: base64, mimeType: "audio/wav" });
  });

  test.each([
    ["png", "image/png"],
    ["jpg", "image/jpeg"],
    ["JPEG", "image/jpeg"],
    ["gif", "image/gif"],
    ["webp", "image/webp"],
    ["avif", "image/avif"],
    ["svg+xml", "image/svg+xml"],
  ])("image format %s is %s", (format, mimeType) => {
    expect(image({ data: bytes, format }).mimeType).toBe(mimeType);
  });

  test.each([
    ["wav", "audio/wav"],
    ["mp3", "audio/mpeg"],
    ["ogg", "audio/ogg"],
    ["flac", "audio/flac"],
    ["aac", "audio/aac"],
    ["m4a", "audio/mp4"],
    ["opus", "audio/opus"],
  ])("audio format %s is %s", (format, mimeType) => {
    expect(audio({ data: bytes, format }).mimeType).toBe(mimeType);
  });

  test("mimeType goes before format", () => {
    expect(image({ data: bytes, format: "gif", mimeType: "image/bmp" }).mimeType).toBe("image/bmp");
  });

  test("mistakes say what to write", () => {
    expect(() => image({} as MediaData)).toThrow(new TypeError("image: give exactly one of path and data"));
    expect(() => audio({ data: bytes, path: "a.wav" } as unknown as MediaFile)).toThrow(
      new TypeError("audio: give exactly one of path and data"),
    );
    expect(() => image({ data: "data:image/png;base64,AQID" })).toThrow(/^image: data is a string that is not base64/);
    expect(() => image({ data: bytes, mimeType: "png" })).toThrow(/^image: "png" is no MIME type; write type\/subtype/);
    expect(() => image({ data: bytes, mimeType: "image/png\r\nX: y" })).toThrow(TypeError);
    expect(() => image({ data: bytes, format: "a/b" })).toThrow(TypeError);
  });
});

describe("image and audio from a file", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "content-"));
  });
  afterEach(async () => {
    vi.unstubAllGlobals();
    await rm(folder, { recursive: true });
  });

  test("the type follows from the suffix", async () => {
    for (const [name, mimeType] of [
      ["a.png", "image/png"],
      ["b.JPG", "image/jpeg"],
      ["c.d.webp", "image/webp"],
    ] as const) {
      await writeFile(join(folder, name), bytes);
      expect(await image({ path: join(folder, name) })).toStrictEqual({ type: "image", data: base64, mimeType });
    }
    await writeFile(join(folder, "a.m4a"), bytes);
    const block = await audio({ path: pathToFileURL(join(folder, "a.m4a")), annotations });
    expect(block).toStrictEqual({ type: "audio", data: base64, mimeType: "audio/mp4", annotations });
  });

  test("a file has a promise, data has not", () => {
    expectTypeOf(image({ data: bytes })).toEqualTypeOf<ImageContent>();
    expectTypeOf<ReturnType<typeof image>>().toEqualTypeOf<Promise<ImageContent>>();
  });

  test("format and mimeType go before the suffix; an unknown suffix needs one of them", async () => {
    const path = join(folder, "picture.bin");
    await writeFile(path, bytes);
    expect((await image({ path, format: "gif" })).mimeType).toBe("image/gif");
    expect((await image({ path, mimeType: "image/x-y" })).mimeType).toBe("image/x-y");
    expect(() => image({ path })).toThrow(/not known by its suffix \(png, jpg, .*\); give format or mimeType/);
    expect(() => image({ path: join(folder, "png") })).toThrow(TypeError);
  });

  test("a missing file rejects", async () => {
    await expect(image({ path: join(folder, "none.png") })).rejects.toThrow("ENOENT");
  });

  test("where there is no file system, the error says so", async () => {
    vi.stubGlobal("process", undefined);
    const reading = image({ path: "a.png" });
    vi.unstubAllGlobals();
    await expect(reading).rejects.toThrow("reading a file needs Node, Bun or Deno; pass data instead");
  });
});

describe("resources", () => {
  test("a link has all the fields of a resource", () => {
    const resource = {
      uri: "file:///a.txt",
      name: "a",
      title: "A",
      description: "the first",
      mimeType: "text/plain; charset=utf-8",
      size: 3,
      icons: [{ src: "https://example.com/a.png" }],
      annotations,
    };
    expect(resourceLink(resource)).toStrictEqual({ type: "resource_link", ...resource });
    expect(() => resourceLink({ uri: "a.txt", name: "a" })).toThrow(/^resourceLink: "a.txt" is no absolute URI/);
    expect(() => resourceLink({ uri: "f:a", name: "a", mimeType: "text" })).toThrow(/is no MIME type/);
  });

  test("embedded text and bytes", () => {
    const uri = "note://1";
    expect(embedded({ uri, text: "" })).toStrictEqual({ type: "resource", resource: { uri, text: "" } });
    expect(embedded({ uri, mimeType: "image/png", blob: bytes, annotations })).toStrictEqual({
      type: "resource",
      resource: { uri, mimeType: "image/png", blob: base64 },
      annotations,
    });
    expect(embedded({ uri, blob: base64 }).resource).toStrictEqual({ uri, blob: base64 });
  });

  test("embedded mistakes", () => {
    expect(() => embedded({ uri: "n:1" })).toThrow(new TypeError("embedded: give exactly one of text and blob"));
    expect(() => embedded({ uri: "n:1", text: "a", blob: bytes })).toThrow(/exactly one of text and blob/);
    expect(() => embedded({ uri: "n:1", blob: "?" })).toThrow(/^embedded: blob is a string that is not base64/);
    expect(() => embedded({ uri: "/n", text: "" })).toThrow(/no absolute URI/);
    expect(() => embedded({ uri: "n:1", text: "", mimeType: "plain" })).toThrow(/is no MIME type/);
  });
});
