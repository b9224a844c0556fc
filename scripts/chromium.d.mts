// The types of chromium.mjs, for its test.
export declare const chromiumMs: number;
export declare const chromiumArgs: string[];
export function ensureChromium(): Promise<string>;
