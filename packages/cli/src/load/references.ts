// References to secrets in the variables of this process, resolved before a file is loaded.

/** The file finds values where references were, as if they had been there all along. */
export async function resolveReferences(): Promise<void> {
  // Most have none, and need not load what looks them up.
  if (!Object.values(process.env).some((value) => value?.startsWith("@"))) return;
  const { resolveEnvironment } = await import("../secrets/references.ts");
  Object.assign(process.env, await resolveEnvironment());
}
