// A server over HTTP as something to connect to, whichever of the protocol's HTTP transports it has.
import { createNodeCarrier } from "#http";
import type { Target } from "../../jsonrpc/channel.ts";
import { createLru } from "../../util/lru.ts";
import { openHttpChannel } from "./client-channel.ts";
import type { Verdict } from "./client-detours.ts";
import { type HttpTargetOptions, nameOfUrl, toTargetSettings } from "./client-options.ts";

export type { HeaderRecord } from "./client-carrier.ts";
export type { Fetch } from "./client-fetch.ts";
export type { HttpAuth, HttpAuthRequest, HttpTargetOptions, ReconnectOptions } from "./client-options.ts";

// Servers that were found to have the transport of 2024-11-05 alone: the next connection begins with it.
const verdicts = createLru<Verdict>({ maxEntries: 1000, maxWeight: 1000 });

/** Throws a TypeError for a URL or an option that cannot be right. Nothing is sent before it is connected to. */
export function httpTarget(options: HttpTargetOptions): Target {
  const settings = toTargetSettings(options, createNodeCarrier);
  const key = nameOfUrl(settings.url);
  let isForgotten = false;
  return {
    name: key,
    key,
    restarts: true,
    mirrorsParams: true,
    open(mirror) {
      const isRenewal = isForgotten;
      isForgotten = false;
      return openHttpChannel({
        settings,
        mirror,
        verdict: verdicts.get(key),
        onVerdict: (verdict) => verdicts.set(key, verdict, 1),
        isRenewal,
        onForgotten() {
          isForgotten = true;
        },
      });
    },
  };
}
