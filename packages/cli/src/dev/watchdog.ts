// Ends a worker whose supervisor is gone and who does not notice, because its event loop is blocked: a thread of its own looks.
import { Worker } from "node:worker_threads";

/** Asked for when the process begins: a thread that comes up late may see an orphan already, and would wait for its new parent. */
const parent = process.ppid;

/** A string, not a file: it shares nothing with the rest, and loads nothing. The parent of an orphan is another, but on Windows. */
const program = `
const parent = ${parent};
const isGone = () => {
  if (process.ppid !== parent) return true;
  try {
    process.kill(parent, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
};
setInterval(() => {
  if (isGone()) process.kill(process.pid, "SIGKILL");
}, 1000);
`;

let isStarted = false;

/** Once for a process, however often it is called. Does not keep the process alive. */
export function startWatchdog(): void {
  if (isStarted) return;
  isStarted = true;
  const thread = new Worker(program, { eval: true, execArgv: [], stdin: false });
  // Without it the server works all the same.
  thread.on("error", () => {});
  thread.unref();
}
