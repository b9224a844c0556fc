// The end of the process, as far as it is ours: code of a file that was loaded may end it too, and that must not look like success.

/** As it was before anybody else's code ran. */
const exit = process.exit.bind(process);

let isOurs = false;

/** @param code default: `process.exitCode` */
export function endProcess(code?: number): never {
  isOurs = true;
  // To be given undefined is not the same to Node as to be given nothing.
  return code === undefined ? exit() : exit(code);
}

export function isOurEnd(): boolean {
  return isOurs;
}
