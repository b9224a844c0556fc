// An authorization server: `plenum/auth/authorization-server`.

export type { Route, RouteAnswer, RouteRequest, Routes } from "../route.ts";
export type { ClientAuthMethod } from "./client.ts";
export type { RotateOptions } from "./keys.ts";
export { fixedLogin, type PasswordLoginOptions, passwordLogin } from "./logins.ts";
export type {
  AuthorizationServerOptions,
  ExchangeOptions,
  ExchangeRequest,
  ExchangeSubject,
  KnownClient,
  Login,
  LoginRequest,
  RegistrationOptions,
  TrustedIssuer,
  UpstreamEndpoints,
  UpstreamLogin,
  UpstreamOptions,
  User,
} from "./options.ts";
export type { Written } from "./serve.ts";
export { type AuthorizationServer, createAuthorizationServer, type OwnVerifier } from "./server.ts";
