// A port of this machine that is free, for a server whose address has to be known before it is made.
import { type AddressInfo, createServer } from "node:net";

export async function findPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
