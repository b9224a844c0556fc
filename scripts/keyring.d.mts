// The types of keyring.mjs, for its test.
export declare const keyringMs: number;
export function ensureKeyring(): Promise<readonly string[]>;
