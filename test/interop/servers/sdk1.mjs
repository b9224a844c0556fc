// The server of sdk1-surface.mjs over stdio.
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createServer } from "./sdk1-surface.mjs";

await createServer().connect(new StdioServerTransport());
