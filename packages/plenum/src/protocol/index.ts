// Serving an endpoint, a server or one of your own, on channels or request by request.
export { type Method, methods } from "./methods.ts";
export { logLevels } from "./model.ts";
export { serve, serveMany } from "./negotiate.ts";
export { anyRoot } from "./revise.ts";
export type { EachServing, ServeOptions, Serving } from "./serving.ts";
export { serveUnbound } from "./sessioned/each.ts";
export { serveEach } from "./stateless/each.ts";
