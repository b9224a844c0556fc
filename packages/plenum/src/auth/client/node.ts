// OAuth for clients on Node: `plenum/auth/node`.
export { type Keychain, keychainTokens } from "./keychain-tokens.ts";
export { openBrowser } from "./node-browser.ts";
export { fileTokens } from "./node-file-store.ts";
export { type LoopbackOptions, loopbackRedirect } from "./node-loopback.ts";
export { type TerminalOptions, terminalRedirect } from "./node-terminal.ts";
