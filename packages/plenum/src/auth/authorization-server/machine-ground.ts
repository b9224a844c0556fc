// What the ways to a token for programs stand on.
import type { Store } from "../../store/store.ts";
import type { Fetch } from "../guarded-fetch.ts";
import type { Keys } from "./keys.ts";
import type { Settings } from "./settings.ts";

export interface MachineGround {
  readonly settings: Settings;
  readonly keys: Pick<Keys, "sign">;
  readonly store: Store;
  /** A guarded one. */
  readonly fetch: Fetch;
}
