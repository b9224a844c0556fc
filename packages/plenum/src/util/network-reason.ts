// Why a server could not be reached, in words that people can do something with.
import { reasonOf } from "./call-back.ts";

/** Runtimes wrap the reason once or twice. */
export function networkReasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 3 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  const text = reasonOf(inner);
  const code = inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
  // What the TLS library says is for those who know it from the inside.
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "what answers there does not speak TLS as it should. If it is a server of http, the URL begins with http://";
  return (text || (code ?? reasonOf(error))) + (advices[code ?? ""] ?? "");
}

const advices: { readonly [code: string]: string | undefined } = {
  ECONNREFUSED: ". Is the server running, and is this its port?",
  ENOTFOUND: ". Is the name of the host right?",
};
