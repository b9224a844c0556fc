// Servers and clients in one process: a pair of channels, a target for `connect`, a raw peer for tests of the wire.

export { createMemoryPair } from "./pair.ts";
export { createRawPeer, type RawPeer } from "./raw-peer.ts";
export { type MemoryOptions, memoryTarget } from "./target.ts";
