// The hooks of Node's module loader that make it run TypeScript and find the library: in this thread where Node can
// (22.15 and later), which costs next to nothing, else in a thread of their own.
import * as nodeModule from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { extendRequire, readRunnable } from "./common-js.ts";
import {
  findRemedy,
  isRuntimeHelper,
  isTypeScript,
  ownParentUrl,
  type ResolveContext,
  toAgain,
  toLocalPath,
} from "./resolution.ts";
import { toLoaded } from "./typescript.ts";

interface Resolved {
  readonly url: string;
}

interface Loaded {
  readonly format?: string | null | undefined;
  readonly source?: unknown;
  readonly shortCircuit?: boolean;
}

/** Of Node 22.15 and later; the types that we compile with are those of 20. */
type RegisterHooks = (hooks: {
  resolve(
    specifier: string,
    context: ResolveContext,
    next: (specifier: string, context: ResolveContext) => Resolved,
  ): Resolved;
  load(url: string, context: object, next: (url: string, context: object) => Loaded): Loaded;
}) => void;

const listeners = new Set<(path: string) => void>();
let port: MessagePort | undefined;

/** Told of every file of a server's own, whichever server it is of, and also of those that are loaded later. */
export function addFileListener(listener: (path: string) => void): void {
  listeners.add(listener);
}

/** Tells listeners of what was loaded so far; from another thread it comes late. */
export function flushFiles(): void {
  if (!port) return;
  for (let note = receiveMessageOnPort(port); note; note = receiveMessageOnPort(port)) tell(note.message as string);
}

function tellLocal(url: string): void {
  const path = toLocalPath(url);
  if (path !== undefined) tell(path);
}

function tell(path: string): void {
  for (const listener of listeners) listener(path);
}

/** Once per process: hooks stay. */
export function registerHooks(): void {
  const { registerHooks: register } = nodeModule as { readonly registerHooks?: RegisterHooks };
  if (register) registerHere(register);
  else registerElsewhere();
  extendRequire((path) => tellLocal(pathToFileURL(path).href));
  // Frames name lines of the TypeScript files.
  process.setSourceMapsEnabled(true);
}

function registerHere(register: RegisterHooks): void {
  register({
    resolve(specifier, context, next) {
      if (isRuntimeHelper(specifier)) return next(specifier, { ...context, parentURL: ownParentUrl });
      try {
        const found = next(specifier, context);
        return { ...found, url: toAgain(found.url, context) };
      } catch (error) {
        const remedy = findRemedy(error, specifier, context);
        if (!remedy) throw error;
        const { parentURL = context.parentURL } = remedy;
        const found = next(remedy.specifier, { ...context, parentURL });
        return remedy.parentURL ? found : { ...found, url: toAgain(found.url, context) };
      }
    },
    load(url, context, next) {
      tellLocal(url);
      if (!url.startsWith("file:") || !isTypeScript(new URL(url).pathname)) return next(url, context);
      const path = fileURLToPath(url);
      return toLoaded(path, readRunnable(path));
    },
  });
}

function registerElsewhere(): void {
  const { port1, port2 } = new MessageChannel();
  port1.on("message", tell);
  port1.unref();
  port = port1;
  // This file is in chunks/, and that one a program of its own.
  const url = new URL("../load/module-hooks.js", import.meta.url);
  nodeModule.register(url, { data: { port: port2 }, transferList: [port2] });
}
