// Middleware: functions around every call. Types alone: whoever answers calls composes them.
import type { Call, Result } from "./endpoint.ts";

export type Next = (call: Call) => Result | Promise<Result>;
export type Middleware = (call: Call, next: Next) => Result | Promise<Result>;
