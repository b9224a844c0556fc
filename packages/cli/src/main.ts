// The program `plenum`, from its words on.
import { runCli } from "./cli.ts";

const words = process.argv.slice(2);
if (words[0]?.startsWith("__")) void import("./completion/hidden.ts").then(({ runHidden }) => runHidden(words));
else void runCli(words);
