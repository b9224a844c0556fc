// A hook of Node's module loader: a package that a file cannot find is looked for in a folder of packages that are lent to it.
// Node runs it in a thread of its own.
import type { InitializeHook, ResolveHook } from "node:module";

let parentURL: string | undefined;

export const initialize: InitializeHook<{ readonly parentURL: string }> = (data) => {
  ({ parentURL } = data);
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context);
  } catch (error) {
    const isPackage = !/^(?:\.{0,2}[\\/]|[a-z][a-z+.-]*:)/i.test(specifier);
    if (!isPackage || (error as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    try {
      return await next(specifier, { ...context, parentURL });
    } catch {
      // The first says better what is missing.
      throw error;
    }
  }
};
