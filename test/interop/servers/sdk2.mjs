// The server of sdk2-surface.mjs over stdio.
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createServer } from "./sdk2-surface.mjs";

serveStdio(() => createServer());
