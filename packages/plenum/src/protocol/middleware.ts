// Middleware: functions around every call, outermost first.
import type { Call, Result } from "./endpoint.ts";

export type Next = (call: Call) => Result | Promise<Result>;
export type Middleware = (call: Call, next: Next) => Result | Promise<Result>;

/** One function that runs the call through all of them. Composed once, not per call. */
export function composeMiddleware(middleware: readonly Middleware[], innermost: Next): Next {
  return middleware.reduceRight<Next>((next, around) => (call) => around(call, next), innermost);
}
