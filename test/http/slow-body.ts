// A request of 2026-07-28 whose body has begun to come, and ends when it is told to.
import { request } from "node:http";
import { modernBody, modernHeaders } from "./callers.ts";
import type { Obj } from "./harness.ts";

export interface SlowBody {
  readonly status: Promise<number | undefined>;
  finish(): void;
}

export async function startSlowly(port: number, method: string, params: Obj): Promise<SlowBody> {
  const body = modernBody(method, params);
  const text = JSON.stringify(body);
  const headers = Object.fromEntries(Object.entries(modernHeaders(body)).filter(([, value]) => value)) as object;
  const sent = request({
    ...{ host: "127.0.0.1", port, path: "/mcp", method: "POST", agent: false },
    headers: { ...headers, "content-length": Buffer.byteLength(text) },
  });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
  });
  status.catch(() => {});
  await new Promise<void>((resolve, reject) => {
    sent.write(text.slice(0, 10), (error) => (error ? reject(error) : resolve()));
  });
  return { status, finish: () => sent.end(text.slice(10)) };
}
