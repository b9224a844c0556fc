// The lists of a server, as methods. What cuts them into pages is loaded by the first list: a call needs none of it.
import type { Handler } from "./core.ts";
import type { PagesOptions } from "./pages.ts";
import type { Entry } from "./registry.ts";

/** Answers a list method, page by page. Specification: server/utilities/pagination. */
export function listPages<E extends Entry>(options: PagesOptions<E>): Handler {
  let list: Handler | undefined;
  return (params, ctx) => {
    if (list) return list(params, ctx);
    return import("./pages.ts").then(({ createPages }) => {
      list ??= createPages(options);
      return list(params, ctx);
    });
  };
}
