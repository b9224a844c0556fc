// Requests that fail where nothing more can be loaded: in a page that has lost its network.
import { expect, test, vi } from "vitest";
import { Stop } from "../../util/stop.ts";
import { toTargetSettings } from "./client-options.ts";
import { createRequester } from "./client-request.ts";

vi.mock("./client-trouble.ts", () => {
  throw new Error("the file could not be fetched");
});

test("a server that cannot be reached is told of without the reason in words, which stays as the cause", async () => {
  const offline = new Error("offline");
  const settings = toTargetSettings({ url: "https://example.com/mcp", fetch: () => Promise.reject(offline) });
  const request = createRequester(settings, settings.carry());
  const asking = request({ method: "POST", url: settings.url, headers: {}, stop: new Stop() });
  await expect(asking).rejects.toMatchObject({
    message: "https://example.com/mcp could not be reached",
    cause: offline,
  });
});
