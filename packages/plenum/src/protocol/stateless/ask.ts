// How the stateless era asks: by returning `input_required` and being called again with the answers.
import type { JsonObject } from "../../jsonrpc/message.ts";
import { clientHas, toCapabilities } from "../capabilities.ts";
import type { Ask, Caller } from "../endpoint.ts";
import { McpError } from "../errors.ts";

/** Throws -32021 naming all that this request did not declare. */
export function requireCapabilities(client: Caller, ask: Ask): void {
  const missing = ask.needs.filter((path) => !clientHas(client.capabilities, path));
  if (missing.length === 0) return;
  const requiredCapabilities = Object.assign({}, ...missing.map(toCapabilities));
  throw new McpError("missing_capability", `${ask.method} needs the client capability ${missing.join(", ")}`, {
    data: { requiredCapabilities },
  });
}

/** Until answers can be carried over to a second run of the handler, a client of this era cannot be asked. */
export async function askNowhere(client: Caller, ask: Ask): Promise<JsonObject> {
  requireCapabilities(client, ask);
  throw new McpError("internal_error", `${ask.method} cannot be asked of clients that speak ${client.revision} yet`);
}
