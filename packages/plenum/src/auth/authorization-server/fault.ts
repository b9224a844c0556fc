// What is wrong with a request to the authorization server, as OAuth writes it. RFC 6749 § 4.1.2.1, § 5.2.

export class AuthFault extends Error {
  override readonly name = "AuthFault";
  /** As OAuth has it: "invalid_request", "invalid_grant" … */
  readonly error: string;
  readonly status: number;
  readonly headers: { readonly [name: string]: string };

  /** @param message for the developer of the client; nothing secret, and nothing of the request */
  constructor(error: string, message: string, status = 400, headers: { readonly [name: string]: string } = {}) {
    super(message);
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}
