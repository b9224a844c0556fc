// The body of a request, whole, as text: bounded in size and time.
import { AuthFault } from "./fault.ts";

/**
 * Rejects with an AuthFault for one that is longer, takes longer, or is no UTF-8.
 * @param parts read to its end, or left when enough was read
 */
export async function readBody(parts: AsyncIterable<Uint8Array>, maxBytes: number, timeoutMs: number): Promise<string> {
  const iterator = parts[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AuthFault("invalid_request", "The body did not come in time", 408)), timeoutMs);
  });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let size = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), late]);
      if (done) return text + decode(decoder);
      size += value.byteLength;
      if (size > maxBytes) throw new AuthFault("invalid_request", `The body has more than ${maxBytes} bytes`, 413);
      text += decode(decoder, value);
    }
  } catch (error) {
    // Nobody waits for it: it may be stuck in a read that does not end.
    void Promise.resolve(iterator.return?.()).catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch {
    throw new AuthFault("invalid_request", "The body is not valid UTF-8");
  }
}
