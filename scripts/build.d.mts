// The types of build.mjs, for the tests that use it.
export function rewriteDeclaration(text: string): string;
export function toPackaged(page: string): string;
export function build(): Promise<boolean>;
export function buildCli(): Promise<boolean>;
