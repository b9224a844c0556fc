// What stands in for node:http where fetch is what the runtime has: browsers, Workers, Deno, Bun. The package's `imports`
// choose between the two.
import type { Carrier } from "./client-carrier.ts";

export function createNodeCarrier(): Carrier | undefined {
  return undefined;
}
