/** How long an installation may take. */
export const installMs: number;

/** Installs the package; gives what went wrong, or nothing. */
export function installPackage(name: string): Promise<string | undefined>;

/** The path of a program whose package has its name. Installs it where it is missing; throws where that cannot be done. */
export function ensureProgram(name: string): Promise<string>;
