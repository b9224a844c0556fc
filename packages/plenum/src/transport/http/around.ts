// What goes around every exchange of a server that wants it: CORS, the access log and metrics. Loaded when such a server is
// made.
import { type Cors, createCors } from "./cors.ts";
import { observe } from "./observe.ts";
import type { HttpSettings } from "./options.ts";
import type { Guard } from "./origin.ts";

export interface Around {
  readonly cors?: Cors | undefined;
  readonly observe?: typeof observe | undefined;
}

export function createAround({ cors, onAccess, onMetrics }: HttpSettings, guard: Guard): Around {
  return {
    cors: createCors(cors, guard),
    observe: onAccess || onMetrics ? observe : undefined,
  };
}
