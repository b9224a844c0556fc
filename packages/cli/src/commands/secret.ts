// `plenum secret`: puts secrets into the keychain of the system, and starts commands with them.
import { defineCommand } from "../command.ts";
import { Failure } from "../failure.ts";

const actions = ["set", "delete", "exec"] as const;

export const command = defineCommand({
  name: "secret",
  summary: "Keep secrets in the keychain of the system",
  description: [
    "set asks for a secret, without showing it, and keeps it under a name in the keychain of the system: Keychain on macOS, Credential Manager on Windows, the Secret Service on Linux. It is also read from stdin, but never from the command line, which other programs can see. delete takes it out again.",
    "Wherever a variable for a server is given, @keychain:NAME stands for the secret; @keychain:SERVICE/ACCOUNT stands for one that another program keeps. @file:PATH is the content of a file, @env:NAME another variable. What they lead to is looked up when the server starts.",
    "exec starts the command after -- with such references in its environment resolved. plenum install writes that into a host's file where it is needed.",
  ],
  arguments: [
    { name: "ACTION", summary: "set, delete or exec" },
    { name: "NAME", summary: "what the secret is called; not for exec", isOptional: true },
  ],
  options: {},
  examples: [
    { command: "plenum secret set weather", summary: "Asks for it, and keeps it" },
    { command: "plenum secret set weather < token.txt", summary: "From a file" },
    {
      command: "plenum secret exec -- node server.js",
      summary: "Starts a command with the references in its environment resolved",
    },
    { command: "plenum secret delete weather", summary: "Takes it out again" },
  ],
  async run({ arguments: { ACTION = "", NAME }, rest, output, signal }) {
    if (ACTION === "exec") {
      const { execCommand } = await import("../secrets/exec.ts");
      return execCommand(rest ?? [], signal);
    }
    if (!actions.some((action) => action === ACTION)) {
      throw new Failure("usage", `secret cannot "${ACTION}"`, { hint: `It can ${actions.join(", ")}.` });
    }
    if (!NAME)
      throw new Failure("usage", `secret ${ACTION} needs a NAME`, { hint: `Such as: plenum secret ${ACTION} weather` });
    const { toSecretPlace, formatSecretPlace, writeSecret, deleteSecret } = await import("../secrets/keychain.ts");
    const place = toSecretPlace(NAME);
    const name = formatSecretPlace(place);
    if (ACTION === "set") {
      const { askSecret } = await import("../secrets/prompt.ts");
      await writeSecret(place, await askSecret(`Secret for ${name}: `, output, signal));
      output.result({ name }, `Kept. Use it as @keychain:${name}`);
      return undefined;
    }
    if (!(await deleteSecret(place))) {
      throw new Failure("usage", `The keychain has no "${name}"`, {
        code: "secret_not_found",
        hint: "Nothing was deleted.",
      });
    }
    output.result({ name }, `Deleted ${name}`);
    return undefined;
  },
});
