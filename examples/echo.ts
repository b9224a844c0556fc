// The smallest server with one of each: a resource template, a tool and a prompt that give back what they are given.
import { createServer } from "plenum";
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
