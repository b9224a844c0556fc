// Errors that cross from one process to another are, on the other side, what they were.
import { McpError, ToolError } from "plenum";
import { expect, test } from "vitest";
import { fromFault, isTellable, ReportedError, toFault } from "./fault.ts";

const classes = { McpError, ToolError };

/** There and back, as JSON. */
const cross = (error: unknown, cause?: unknown): Error =>
  fromFault(JSON.parse(JSON.stringify(toFault(error))), classes, cause);

test("an McpError keeps its code, its number and its data", () => {
  const error = new McpError("application", "no", { rpcCode: 7, data: { a: [1] } });
  expect(cross(error)).toBeInstanceOf(McpError);
  expect(cross(error)).toMatchObject({ code: "application", message: "no", rpcCode: 7, data: { a: [1] } });
});

test("one of another copy of the library is an McpError here", () => {
  const theirs = Object.assign(new Error("later"), { name: "McpError", code: "input_required", rpcCode: -32603 });
  expect(cross(theirs)).toBeInstanceOf(McpError);
});

test("others keep their name and message, and their cause where there is one", () => {
  expect(cross(new ToolError("read this"))).toBeInstanceOf(ToolError);
  const cause = new RangeError("far");
  expect(cross(cause, cause)).toMatchObject({ name: "RangeError", message: "far", cause });
  expect(cross("a text")).toMatchObject({ name: "Error", message: "a text" });
});

test("whatever is thrown can be told", () => {
  const hostile = new Proxy(new Error(), {
    get() {
      throw new Error("do not look");
    },
  });
  expect(toFault(hostile).message).toBe("What was thrown cannot be told");
  const data = { big: 1n };
  expect(toFault(new McpError("invalid_params", "no", { data }))).toEqual({
    name: "McpError",
    message: "no",
    code: "invalid_params",
    rpcCode: -32602,
  });
});

test("what a client may be told is what has a number of its own", () => {
  expect(isTellable(toFault(new McpError("invalid_params", "")))).toBe(true);
  expect(isTellable(toFault(new McpError("application", "", { rpcCode: 1 })))).toBe(true);
  expect(isTellable(toFault(new McpError("timeout", "")))).toBe(false);
  expect(isTellable(toFault(new McpError("peer_error", "", { rpcCode: 1 })))).toBe(false);
  expect(isTellable(toFault(new Error("secret")))).toBe(false);
});

test("what was reported is known by its id", () => {
  const error = fromFault({ name: "Error", message: "", errorId: "7" }, classes);
  expect(error).toBeInstanceOf(ReportedError);
  expect(error).toMatchObject({ errorId: "7" });
});
