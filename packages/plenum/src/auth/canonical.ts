// Names of resources as text: what is the same place is the same text. Specification: basic/authorization § Canonical Server URI.

/** Scheme and host in lower case, and no slash at the end. */
export function toCanonical({ origin, pathname, search, hash }: URL): string {
  return `${origin}${pathname.replace(/\/$/, "")}${search}${hash}`;
}
