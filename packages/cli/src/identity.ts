// Who we are, in one place: the version is that of package.json, which a test compares.

export const version = "0.1.0";
