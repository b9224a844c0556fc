// Servers that check tokens: `plenum/auth/resource-server`.
export { type IntrospectionOptions, introspection } from "./introspection.ts";
export { type JwtOptions, jwt } from "./jwt.ts";
export { type Entrant, type Refused, type RequireAuth, type RequireAuthOptions, requireAuth } from "./require-auth.ts";
export type { Verified, Verifier } from "./verify.ts";
