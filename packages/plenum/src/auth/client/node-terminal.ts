// A terminal without a browser: the address is printed, and what the browser was sent to is pasted.
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { untilAborted } from "../../util/abort.ts";
import { OAuthError } from "../oauth-error.ts";
import { assertOptionNames } from "../option-names.ts";
import { createRedirect, type Redirect, toParameters } from "./redirect.ts";

export interface TerminalOptions {
  /** Registered as the address to come back to; nothing needs to answer there. Default "http://127.0.0.1:7777/callback". */
  readonly uri?: string;
  readonly input?: Readable;
  readonly output?: Writable;
}

const maxTries = 3;

const optionNames: { readonly [K in keyof Required<TerminalOptions>]: true } = { uri: true, input: true, output: true };

/**
 * Takes the whole address, or its query: a code alone does not say which question it answers, nor who gave it. Asks again for what
 * is neither, three times in all. A visit rejects with an OAuthError: `state_mismatch` for the last of them, `no_redirect` where
 * the input ends. Throws a TypeError for options that make no sense.
 */
export function terminalRedirect(options: TerminalOptions = {}): Redirect {
  assertOptionNames("terminalRedirect", options, optionNames);
  const { uri = "http://127.0.0.1:7777/callback", input = process.stdin, output = process.stderr } = options;
  if (typeof input?.on !== "function") throw new TypeError("terminalRedirect: input must be a stream to read from");
  if (typeof output?.write !== "function") throw new TypeError("terminalRedirect: output must be a stream to write to");
  return createRedirect({
    uri,
    async open(url, signal) {
      signal?.throwIfAborted();
      output.write(`Open this address in a browser, on any machine:\n\n  ${url.href}\n\n`);
      output.write("When you have logged in the browser is sent to an address that it may not be able to show.\n");
      const lines = createInterface({ input, output, prompt: "Paste that address here: " });
      try {
        const asked = askFor(url.searchParams.get("state"), lines, output);
        return await untilAborted(asked, signal, (reason) => reason);
      } finally {
        lines.close();
      }
    },
  });
}

async function askFor(state: string | null, lines: Interface, output: Writable): Promise<URLSearchParams> {
  let tries = 0;
  lines.prompt();
  for await (const line of lines) {
    try {
      const parameters = toParameters(line);
      if (parameters.get("state") === state) return parameters;
      throw new OAuthError("state_mismatch", "What was pasted is the answer to another question");
    } catch (error) {
      if (++tries >= maxTries) throw error;
    }
    output.write(
      "That is not it: all of the address is needed, from http to its end, with code=… and state=… in it.\n",
    );
    lines.prompt();
  }
  throw new OAuthError("no_redirect", "The input ended before the address was pasted that the browser was sent to");
}
