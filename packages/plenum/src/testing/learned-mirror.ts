// Channels for who passes messages on without being a client: what of a tool's arguments travels in HTTP headers too is learned from the
// lists of tools that pass.
import type { Channel, Mirror, Target } from "../jsonrpc/channel.ts";
import { type Incoming, isObject } from "../jsonrpc/message.ts";
import type { HeaderParam } from "../protocol/header-marks.ts";
import type { Tool } from "../protocol/model.ts";
import { tapChannel } from "../transport/tap.ts";

/** Opens a channel. @param mirror of a client that knows its tools. Default: one that learns. */
export async function openLearning(target: Target, mirror?: Mirror): Promise<Channel> {
  if (mirror || !target.mirrorsParams) return target.open(mirror);
  const { readHeaderParams, toHeaderValues } = await import("../protocol/header-params.ts");
  const marked = new Map<string, readonly HeaderParam[]>();
  const learn = (incoming: Incoming): void => {
    if (incoming.kind === "batch") incoming.members.forEach(learn);
    if (incoming.kind !== "response" || !("result" in incoming.message)) return;
    const { result } = incoming.message;
    const tools: unknown = isObject(result) ? result.tools : undefined;
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isObject(tool) || !isObject(tool.inputSchema)) continue;
      const found = readHeaderParams(tool as unknown as Tool);
      // One that is marked wrongly is sent as it is: it is for the server to refuse.
      marked.set(String(tool.name), "params" in found ? found.params : []);
    }
  };
  const learned: Mirror = ({ method, params }) => {
    const found = method === "tools/call" ? marked.get(String(params?.name)) : undefined;
    return found ? toHeaderValues(found, isObject(params?.arguments) ? params.arguments : {}) : {};
  };
  return tapChannel(await target.open(learned), (event) => {
    if (event.kind === "received") learn(event.incoming);
  });
}
