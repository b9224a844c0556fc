/** Writes the code of packages/cli into a folder beside its dist. */
export function bundleCli(folder: string, outDir: string): Promise<void>;
