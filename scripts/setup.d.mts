// The types of setup.mjs, for its test.
export interface Lock {
  readonly packages?: Readonly<Record<string, LockedPackage>>;
}
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}
export function checkNode(version: string): string | undefined;
export function checkInstalled(
  wanted: Lock,
  installed: Lock,
  platform?: { readonly platform: string; readonly arch: string },
): string | undefined;
