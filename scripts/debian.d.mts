/** How long an installation may take. */
export const installMs: number;

/** Installs the packages; gives what went wrong, or nothing. */
export function installPackages(names: readonly string[]): Promise<string | undefined>;

/** The path of a program in PATH, or nothing. */
export function findProgram(program: string): string | undefined;

/** The path of a program whose package has its name. Installs it where it is missing; throws where that cannot be done. */
export function ensureProgram(name: string): Promise<string>;
