// A file that listens on a port cannot be loaded twice: the version before holds it. What tells that from other failures.

/** The code of a version that does not load because of it. */
export const portTaken = "port_taken";

/** Whether that is behind an error, however it was wrapped. */
export function isPortTaken(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 10; one = one.cause, depth++)
    if ((one as NodeJS.ErrnoException).code === "EADDRINUSE") return true;
  return false;
}
