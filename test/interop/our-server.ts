// The server of our-surface.ts over stdio.
import { serveStdio } from "plenum/stdio";
import { createOurServer } from "./our-surface.ts";

serveStdio(createOurServer(() => process.stderr.write("cancelled\n")));
