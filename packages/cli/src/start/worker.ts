// The program that `plenum dev` runs the server of a file in.
import { runChunk } from "./chunks.ts";

runChunk("worker", "worker");
