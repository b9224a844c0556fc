// The types of build.mjs, for the tests that use it.
export function rewriteDeclaration(text: string): string;
export function toPackaged(page: string): string;
export function build(name: string): Promise<boolean>;
