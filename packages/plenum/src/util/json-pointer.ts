// JSON Pointers (RFC 6901) as names of places, and patterns of them.

/** A member's name as a pointer has it. */
export function toPointerPart(name: string): string {
  return name.includes("~") || name.includes("/") ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name;
}

/** What pointers of this form match: `*` stands for any one member, `**` for any number of them. */
export function toPointerPattern(pointer: string): RegExp {
  const parts = pointer.split("/").map((part) => {
    if (part === "**") return ".*";
    return part === "*" ? "[^/]*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`, "s");
}
