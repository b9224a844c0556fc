import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { type TerminalOptions, terminalRedirect } from "./node-terminal.ts";

const page = new URL("https://as.example/authorize?client_id=c&state=s");

async function visit(signal?: AbortSignal) {
  const input = new PassThrough();
  const output = new PassThrough();
  let printed = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const { uri, open } = await terminalRedirect({ input, output }).begin();
  return { uri, input, printed: () => printed, came: Promise.resolve(open(page, signal)) };
}

test("the address is printed, and what is pasted comes back", async () => {
  const { uri, input, printed, came } = await visit();
  expect(uri).toBe("http://127.0.0.1:7777/callback");
  input.write(`${uri}?code=a&state=s\n`);
  expect(String(await came)).toBe("code=a&state=s");
  expect(printed()).toContain(`\n\n  ${page.href}\n\n`);
  expect(printed()).toContain("Paste that address here: ");
});

test("its query will do", async () => {
  const { input, came } = await visit();
  input.end("?error=access_denied&state=s");
  expect(String(await came)).toBe("error=access_denied&state=s");
});

test.each([
  ["nothing", ""],
  ["garbage", "help"],
  // It would belong to any question.
  ["a code alone", "SplxlOBeZQQYbYS6WxSbIA"],
  ["the address that was opened", page.href],
  ["the answer to another question", "http://127.0.0.1:7777/callback?code=a&state=other"],
  ["an answer without state", "http://127.0.0.1:7777/callback?code=a"],
])("%s is asked for again, twice, and then it is an error", async (_, line) => {
  const again = await visit();
  again.input.write(`${line}\n${line}\n?code=a&state=s\n`);
  expect(String(await again.came)).toBe("code=a&state=s");
  expect(again.printed().split("That is not it")).toHaveLength(3);

  const { input, came } = await visit();
  input.write(`${line}\n`.repeat(3));
  await expect(came).rejects.toMatchObject({ code: "state_mismatch" });
});

test.each([
  ["at once", ""],
  ["after garbage", "help\n"],
])("an input that ends %s is an error that says so", async (_, text) => {
  const { input, came } = await visit();
  input.end(text);
  await expect(came).rejects.toMatchObject({
    code: "no_redirect",
    message: expect.stringContaining("The input ended before"),
  });
});

test("it can be given up, and leaves the input alone", async () => {
  const controller = new AbortController();
  const { input, came } = await visit(controller.signal);
  controller.abort(new Error("enough"));
  await expect(came).rejects.toThrow("enough");
  expect(input.listenerCount("data") + input.listenerCount("keypress")).toBe(0);
  const late = await visit(controller.signal).then(({ printed, came }) => came.catch(() => printed()));
  expect(late).toBe("");
});

test("what is not safe as a redirect URI is refused", () => {
  expect(() => terminalRedirect({ uri: "http://example.com/" })).toThrow(TypeError);
});

test.each<[string, unknown, string]>([
  ["one that is misspelt", { url: "http://127.0.0.1:7777/callback" }, 'did you mean "uri"'],
  ["an input that is none", { input: "stdin" }, "stream"],
  ["an output that is none", { output: null }, "stream"],
  ["an address that is not safe", { uri: "http://elsewhere.example/callback" }, "https"],
])("an option is refused with what to do: %s", (_, options, remedy) => {
  expect(() => terminalRedirect(options as TerminalOptions)).toThrow(TypeError);
  expect(() => terminalRedirect(options as TerminalOptions)).toThrow(remedy);
});
