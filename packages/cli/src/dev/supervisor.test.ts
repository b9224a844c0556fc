// A file that never finishes loading: people are told, and calls do not wait for ever.
import type { Call, Result } from "plenum";
import { afterEach, expect, test, vi } from "vitest";
import { createOutput } from "../output.ts";
import { createSupervisor } from "./supervisor.ts";

vi.mock("./child.ts", () => ({
  startChild: () => ({ load: () => new Promise(() => {}), kill() {}, retire: async () => {} }),
}));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("it is said after a while that a file is still loading, and calls get an error some time after", async () => {
  vi.useFakeTimers();
  const output = createOutput({ isJson: false, isQuiet: false, color: false });
  const warn = vi.spyOn(output, "warn").mockImplementation(() => {});
  const spec = { kind: "file", path: "/none/server.ts", name: "server.ts", export: undefined } as never;
  const supervisor = createSupervisor({ spec, graceMs: 1000, extras: undefined, output });
  const call = async (method: string): Promise<Result> =>
    supervisor.endpoint.call({ method, params: {}, link: { signal: new AbortController().signal } } as unknown as Call);
  let failure: unknown;
  const calling = call("tools/call").catch((error: unknown) => {
    failure = error;
  });
  const listing = call("tools/list");
  await vi.advanceTimersByTimeAsync(4900);
  expect(warn).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("server.ts is still loading, after 5 s"));
  await vi.advanceTimersByTimeAsync(24_000);
  expect(failure).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1000);
  await calling;
  expect(failure).toMatchObject({
    message: expect.stringContaining("no server to answer this: server.ts is still loading"),
  });
  // The list comes when the server does.
  expect(await listing).toEqual({ tools: [] });
  await supervisor.close();
});
