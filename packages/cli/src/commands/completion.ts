// `plenum completion`: the script that teaches a shell to complete.
import { defineCommand } from "../command.ts";
import { type ShellName, scripts, shellNames } from "../completion/scripts.ts";

export const command = defineCommand({
  name: "completion",
  summary: "Print a script that completes commands in your shell",
  description: [
    "Prints a script for a shell. With it, Tab completes commands, options and their values, files, hosts, and what a server has: after a file or a URL the names of its tools, prompts and resources, and behind a tool the names of its arguments.",
    "For the names of tools the server is asked while you wait: a file is loaded, a URL is visited without logging in. Commands behind -- and servers of hosts are never started for it. The variable PLENUM_COMPLETION_TIMEOUT says for how many seconds at most (default: 2); with 0 no server is asked.",
    "The script asks the program plenum that your shell finds, so it must be in a folder of PATH. The script is the same for every version.",
  ],
  arguments: [{ name: "SHELL", summary: `one of ${shellNames.join(", ")}`, choices: shellNames }],
  options: {},
  examples: [
    { command: "plenum completion bash >> ~/.bashrc", summary: "For bash, from the next shell on" },
    { command: "plenum completion zsh > ~/.zfunc/_plenum", summary: "For zsh, in a folder of its fpath" },
    { command: "plenum completion fish > ~/.config/fish/completions/plenum.fish", summary: "For fish" },
  ],
  async run({ arguments: named, output }) {
    output.raw(scripts[named.SHELL as ShellName]);
    return undefined;
  },
});
