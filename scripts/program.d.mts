/** The path of a TypeScript program of this workspace as one plain file, made anew only when it has changed. */
export function bundleProgram(path: string): Promise<string>;
