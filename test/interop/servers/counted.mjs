// Writes down the id of this process, then is the program that it was given, with its arguments: counted.mjs list … program args
import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [node, , list, program, ...args] = process.argv;
appendFileSync(list, `${process.pid}\n`);
process.argv = [node, resolve(program), ...args];
await import(pathToFileURL(resolve(program)).href);
