// `plenum logout`: forgets what `plenum login` has kept.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";
import { type Output, toHarmless } from "../output.ts";
import { findTarget } from "../target/find.ts";

export const command = defineCommand({
  name: "logout",
  summary: "Forget the login at a server",
  description: [
    "Removes the tokens for a server from this machine. The next command that needs a login asks for one.",
    "The authorization server is not told: what somebody has copied is good until it ends. Where it has a page on which access can be taken back, do that there.",
  ],
  arguments: [
    {
      name: "URL",
      summary: "the server: its URL, or an entry that has one, such as mcp.json:name or cursor:name",
      isOptional: true,
    },
  ],
  options: { all: { kind: "flag", summary: "Forget the logins at all servers, and all that was registered for them" } },
  examples: [
    { command: "plenum logout https://example.com/mcp", summary: "Forget the login at one server" },
    { command: "plenum logout --all", summary: "Forget all of them" },
  ],
  async run({ arguments: { URL }, rest, options: { all }, output }) {
    const isNamed = URL !== undefined || rest !== undefined;
    if (isNamed === all) {
      throw new Failure("usage", all ? "--all takes no URL" : "logout needs a URL, or --all", {
        hint: "Such as: plenum logout https://example.com/mcp",
      });
    }
    if (all) await forgetAll(output);
    else await forgetOne(URL, rest, output);
    return undefined;
  },
});

async function forgetAll(output: Output): Promise<void> {
  const { tokenPath } = await import("../auth/token-file.ts");
  const path = tokenPath();
  const isRemoved = existsSync(path);
  await rm(path, { force: true });
  output.result({ isRemoved, path }, isRemoved ? `All logins are forgotten: ${path} is gone.` : "There are no logins.");
}

async function forgetOne(target: string | undefined, rest: readonly string[] | undefined, output: Output) {
  const spec = await findTarget(target, rest, { header: [], env: [], cwd: undefined });
  if (spec.kind !== "url") {
    throw new Failure("usage", "There are logins only at servers at a URL", {
      hint: "Such as: plenum logout https://example.com/mcp",
    });
  }
  const { openLogin } = await import("../auth/login.ts");
  const { url, name } = spec;
  const login = await openLogin({ url });
  const granted = await login.granted(url);
  await login.forget(url);
  await login.forgetClient();
  if (!granted) {
    output.result({ server: name, isRemoved: false }, `You were not logged in at ${name}.`);
    return;
  }
  const { issuer, scopes } = granted;
  const of = scopes && scopes.length > 0 ? ` (${scopes.join(" ")})` : "";
  output.result(
    { server: name, isRemoved: true, issuer, scopes },
    `Logged out of ${name}: what ${toHarmless(issuer)} granted${toHarmless(of)} is forgotten.`,
  );
}
