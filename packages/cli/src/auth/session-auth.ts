// What gives leave at a server that wants a login: tokens that `plenum login` kept, and a login where somebody can be asked.
import type { Redirect } from "plenum/auth/client";
import type { HttpAuth } from "plenum/http/client";
import { Failure } from "../failure.ts";
import type { Output } from "../output.ts";
import type { UrlSpec } from "../target/spec.ts";
import type { Login } from "./login.ts";
import { mayHold, tokenPath } from "./token-file.ts";

/** Undefined where a header of the user's own gives leave. Loads what a login takes when the server first refuses. */
export async function createSessionAuth(spec: UrlSpec, output: Output): Promise<HttpAuth | undefined> {
  if (hasAuthorization(spec)) return undefined;
  const isKept = mayHold(tokenPath(), new URL(spec.url));
  let opening: Promise<Login> | undefined;
  const open = (): Promise<Login> => {
    opening ??= import("./login.ts").then(({ openLogin }) =>
      openLogin({ url: spec.url, redirect: askFirst(spec, output) }),
    );
    return opening;
  };
  return {
    authorize: async (request) => (opening || isKept ? (await open()).authorize(request) : {}),
    refused: async (request, answer, sent) => (await open()).refused(request, answer, sent),
  };
}

/** Whether the user says by a header who it is. */
export function hasAuthorization({ headers }: UrlSpec): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

/** A browser, after a question: nobody called to see one. */
function askFirst({ name, url }: UrlSpec, output: Output): Redirect {
  return {
    async begin(registered) {
      if (!output.canAsk) throw toLoginFailure(`${name} wants a login`, url);
      const { promptYes } = await import("../ask/prompts.ts");
      const message = `${name} wants a login. Open the browser?`;
      const isAgreed = await output.alone(() => promptYes({ message, initial: true }));
      if (isAgreed !== true) throw toLoginFailure(`${name} wants a login, and there was none`, url);
      const { createBrowserRedirect } = await import("./browser-redirect.ts");
      return createBrowserRedirect(output).begin(registered);
    },
  };
}

function toLoginFailure(message: string, url: string): Failure {
  // What stands behind the path may be a secret.
  const { origin, pathname } = new URL(url);
  return new Failure("unauthorized", message, {
    code: "login_required",
    hint: `Log in with plenum login ${origin}${pathname}, or send a token that you have: --header 'Authorization: Bearer …'.`,
  });
}
