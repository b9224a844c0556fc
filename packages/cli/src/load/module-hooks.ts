// The module hooks for Nodes before 22.15: Node runs this file in a thread of its own. See hooks.ts.
import { readFileSync } from "node:fs";
import type { InitializeHook, LoadHook, ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { findRemedy, isRuntimeHelper, isTypeScript, ownParentUrl, toAgain, toLocalPath } from "./resolution.ts";
import { findTransformed, toLoaded, transform } from "./typescript.ts";

let port: MessagePort | undefined;

export const initialize: InitializeHook<{ readonly port: MessagePort }> = (data) => {
  port = data.port;
  port.unref();
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (isRuntimeHelper(specifier)) return next(specifier, { ...context, parentURL: ownParentUrl });
  try {
    const found = await next(specifier, context);
    return { ...found, url: toAgain(found.url, context) };
  } catch (error) {
    const remedy = findRemedy(error, specifier, context);
    if (!remedy) throw error;
    const { parentURL = context.parentURL } = remedy;
    const found = await next(remedy.specifier, { ...context, parentURL });
    return remedy.parentURL ? found : { ...found, url: toAgain(found.url, context) };
  }
};

export const load: LoadHook = async (url, context, next) => {
  const local = toLocalPath(url);
  if (local) port?.postMessage(local);
  if (!url.startsWith("file:") || !isTypeScript(new URL(url).pathname)) return next(url, context);
  const path = fileURLToPath(url);
  const text = readFileSync(path, "utf8");
  const made = findTransformed(path, text) ?? transform(path, text, (await import("oxc-transform")).transformSync);
  return toLoaded(path, made);
};
