// Clients against the bare server: calls with 64 in flight, and one after the other.
import type { Case, ClientModule, Target } from "../case.ts";
import { type ClientOptions, runClient } from "../drive/client.ts";
import { argsOf, findPort, type Started, startProgram, stop, waitForPort } from "../drive/process.ts";
import { targets } from "../targets.ts";

interface Client {
  readonly target: Target;
  readonly module: ClientModule;
  readonly options: Omit<ClientOptions, "ms">;
  readonly server: Started | undefined;
}

/** What all clients call. */
function bareServer(): Target {
  const found = targets.find(({ name }) => name === "bare");
  if (!found) throw new Error("there is no bare server");
  return found;
}

export const client: Case<Client> = {
  name: "client",
  help: "clients against the bare server, over HTTP (JSON and SSE answers) and stdio: 64 calls in flight, and one after the other",
  better: { cpuUs: "low", perSecond: "high", sequentialPerSecond: "high" },
  variants: (target) =>
    Object.entries(target.client ?? {}).flatMap(([name, { transports }]) =>
      (transports ?? []).map((transport) => `${name}/${transport}`),
    ),
  baseline: (variant) => `node-http/${variant.split("/")[1]}`,
  async setup(target, variant) {
    const [name = "", transport = ""] = variant.split("/");
    const module = target.client?.[name];
    if (!module) throw new Error(`${target.name} has no client ${name}`);
    const bare = bareServer();
    const command = [process.execPath, ...argsOf(bare, ["server.mjs", "stdio"])];
    if (transport === "stdio") return { target, module, options: { transport, command }, server: undefined };
    const port = await findPort();
    const mode = `session-${transport.split("-")[1]}`;
    const server = startProgram(bare, ["server.mjs", "http", mode, "{port}"], { port });
    await waitForPort(port, server);
    const url = `http://127.0.0.1:${port}/mcp`;
    return { target, module, options: { transport: "http", url, command }, server };
  },
  measure: ({ target, module, options }, { roundMs }) => runClient(target, module, { ...options, ms: roundMs }),
  teardown: ({ server }) => stop(server),
};
