// The smallest server with one of each: a resource template, a tool and a prompt that give back what they are given.
// Run as a program it serves stdio: node --conditions=plenum-source --import tsx examples/echo.ts
import { pathToFileURL } from "node:url";
import { createServer } from "plenum";
import { serveStdio } from "plenum/stdio";
import { z } from "zod";

export function createEchoServer() {
  const server = createServer({ name: "echo", version: "1.0.0" });

  server.resource("echo://{message}", { name: "echo" }, ({ message }) => `Resource echo: ${message}`);
  server.tool("echo", { input: z.object({ message: z.string() }) }, ({ message }) => `Tool echo: ${message}`);
  server.prompt(
    "echo",
    { arguments: z.object({ message: z.string() }) },
    ({ message }) => `Please process this message: ${message}`,
  );

  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) serveStdio(createEchoServer());
