// Who sent a message, as far as HTTP tells.
import type { AuthInfo, Sender } from "../../protocol/endpoint.ts";
import type { HttpHead } from "./exchange.ts";

export class HttpSender implements Sender {
  readonly auth?: AuthInfo;
  readonly mirrorsParams: boolean;
  /** Set where the client can come back for the answer. */
  disconnect?: (retryMs?: number) => void;
  readonly #head: HttpHead;

  constructor(head: HttpHead, auth: AuthInfo | undefined, mirrorsParams = false) {
    if (auth) this.auth = auth;
    this.mirrorsParams = mirrorsParams;
    this.#head = head;
  }

  header(name: string): string | undefined {
    return this.#head.header(name);
  }
}
