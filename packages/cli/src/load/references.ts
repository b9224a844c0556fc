// References to secrets in the variables of this process, resolved before a file is loaded.

/** The file finds values where references were, as if they had been there all along. */
export async function resolveReferences(): Promise<void> {
  const references = Object.entries(process.env).filter(([, value]) => /^@(?:env|file|keychain):/.test(value ?? ""));
  if (references.length === 0) return;
  const { resolveEnv } = await import("../secrets/references.ts");
  Object.assign(process.env, await resolveEnv(Object.fromEntries(references) as { [name: string]: string }));
}
