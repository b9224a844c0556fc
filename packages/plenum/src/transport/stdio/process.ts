// The process of a server alone, without a channel to it: for who speaks to it by hand, such as tools that test servers.
import { resolve as resolvePath } from "node:path";
import { fileURLToPath } from "node:url";
import type { StdioTargetOptions } from "./client.ts";
import { toEnvironment } from "./environment.ts";
import { type ServerChild, startChild } from "./start.ts";

export type { ServerChild } from "./start.ts";

/**
 * Starts it as `stdioTarget` does: without a shell, with few variables, as the leader of a group of its own. Whoever starts it
 * ends it. Rejects with McpError `connection_lost` when there is none to be had.
 */
export async function startServer(
  options: Pick<StdioTargetOptions, "command" | "args" | "env" | "cwd">,
): Promise<ServerChild> {
  const { command, args = [], env = {}, cwd } = options;
  const folder = cwd === undefined ? undefined : resolvePath(typeof cwd === "string" ? cwd : fileURLToPath(cwd));
  return startChild({ command, args, env: toEnvironment(env), cwd: folder, isStderrIgnored: false }, () => {});
}
