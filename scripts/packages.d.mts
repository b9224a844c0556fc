// The types of packages.mjs, for who uses it.
export declare const installMs: number;
export function installPackages(names: readonly string[]): Promise<string | undefined>;
