// The browser of the desktop, for a login: its address is shown as well, for whoever has none that can be opened from here.
import type { Redirect } from "plenum/auth/client";
import { loopbackRedirect } from "plenum/auth/node";
import type { Output } from "../output.ts";

export function createBrowserRedirect(output: Output): Redirect {
  return loopbackRedirect({
    onUrl({ href }) {
      output.note(`The browser opens to let you log in. If it does not, visit:\n\n  ${href}\n`);
      output.status("Waiting for the login …");
    },
  });
}
