// Pages for people, and ways on from them: HTML without a script, which nobody frames and nothing keeps.
import type { RouteAnswer } from "../route.ts";

/** Markup that is ready to be shown. */
export interface Html {
  readonly html: string;
}

type Part = Html | string | false | undefined | readonly Part[];

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:3em auto;padding:0 1em;color:#222;background:#fff}" +
  "h1{font-size:1.4em}dt{font-weight:bold}dd{margin:0 0 .6em;overflow-wrap:anywhere}code{overflow-wrap:anywhere}" +
  ".warning{border-left:4px solid #b50;padding:.4em .8em;background:#fff6ec}label{display:block;margin:.6em 0}" +
  "input:not([type=checkbox]){display:block;width:100%;box-sizing:border-box;font:inherit;padding:.3em}" +
  "button{font:inherit;padding:.4em 1.2em;margin:.6em .6em 0 0}";

/** Of `style`: the test says what it must be. */
export const styleHash = "sha256-/pRdLt1KPsLIazN0Z+lNSN7RwNN3ry5Y4rE94xL0T+I=";

const escapes: { readonly [char: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What is put in is text, whatever it holds; markup is only what was made by this. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: strings.reduce((text, next, at) => text + toMarkup(parts[at - 1]) + next) };
}

function toMarkup(part: Part): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string") return part.replace(/[&<>"']/g, (char) => escapes[char] as string);
  return "html" in part ? part.html : part.map(toMarkup).join("");
}

/**
 * Held against every page, those of a login of the application's too. With `no-referrer` browsers would say `Origin: null` of
 * our own forms; others learn nothing from this either.
 */
export const guardHeaders: { readonly [name: string]: string } = {
  "cache-control": "no-store",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

export interface PageOptions {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /**
   * Where its forms lead to. Default: here, and nowhere after it: browsers hold this against what the answer redirects to as well,
   * and against what that redirects to. Undefined: not said.
   */
  readonly formAction?: "'self'" | "'none'" | undefined;
  readonly headers?: { readonly [name: string]: string };
}

export function toPage(options: PageOptions): RouteAnswer {
  const { title, body, status = 200, headers } = options;
  const formAction = "formAction" in options ? options.formAction : "'self'";
  const policy = [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(formAction === undefined ? [] : [`form-action ${formAction}`]),
  ].join("; ");
  const head = html`<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;
  const css = { html: `<style>${style}</style>` };
  const page = html`<!doctype html><html lang="en"><head>${head}${css}</head><body><h1>${title}</h1>${body}</body></html>`;
  return {
    status,
    headers: {
      ...guardHeaders,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      ...headers,
    },
    body: page.html,
  };
}

/** @param message in words of ours, with nothing of the request in it */
export function toErrorPage(
  status: number,
  message: string,
  headers: { readonly [name: string]: string } = {},
): RouteAnswer {
  const body = html`<p>${message}.</p><p>Close this page, go back to the application that sent you here, and begin again.</p>`;
  return toPage({ title: "This cannot go on", body, status, formAction: "'none'", headers });
}

/**
 * @param method of the request that is answered: what was posted is not to be posted again elsewhere
 * @param cookie the value of Set-Cookie
 */
export function toRedirect(location: string, method: string, cookie?: string): RouteAnswer {
  return {
    status: method === "POST" ? 303 : 302,
    headers: {
      location,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      ...(cookie !== undefined && { "set-cookie": cookie }),
    },
  };
}
