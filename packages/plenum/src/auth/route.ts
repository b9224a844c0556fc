// One page, as whoever serves HTTP asks for it: of the same shape as the routes of plenum/http, so that these can be given there,
// and known to nobody else. Runtime-neutral.

export interface RouteRequest {
  /** In upper case. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
  /** By its name in lower case. */
  header(name: string): string | undefined;
  /** Rejects for a body that is longer, or takes longer. */
  body(maxBytes: number, timeoutMs: number): Promise<string>;
}

export interface RouteAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Text as it is; any other value as JSON. */
  readonly body?: unknown;
}

export type Route = (request: RouteRequest) => RouteAnswer | Promise<RouteAnswer>;

/** By their paths. */
export type Routes = { readonly [path: string]: Route };
