// Why a server cannot be served over HTTP, in the words of the command line.
import { Failure } from "../failure.ts";

/**
 * What the library says of options is true of ours, under other names.
 * @param command whose options they are
 */
export function toServeFailure(error: unknown, command: string): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("serveHttp: ")) return error;
  const cause = error;
  const { code } = (error.cause ?? {}) as { readonly code?: string };
  const message = error.message.slice("serveHttp: ".length);
  if (code === "EADDRINUSE") {
    const [where = ""] = /\S+:\d+/.exec(message) ?? [];
    return new Failure("usage", `Another program listens on ${where} already`, {
      code: "port_taken",
      hint: "Choose another port with --port, or --port 0 for any that is free.",
      cause,
    });
  }
  if (/^Listening on .* reachable from elsewhere/.test(message)) {
    return new Failure("usage", message.split(". ")[0] as string, {
      code: "exposed",
      hint: "Name how clients reach it: --allow-host mcp.example.com. Or leave out --host, and it is for this machine alone.",
      cause,
    });
  }
  return new Failure("usage", message[0]?.toUpperCase() + message.slice(1), {
    code: code === undefined ? "invalid_option" : "cannot_listen",
    hint: `plenum ${command} --help explains the options.`,
    cause,
  });
}
