// A page that a user may be sent to.

const loopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** The address in full. What the user is to do there is often secret, and so is the address itself: others throw. */
export function toPage(url: unknown): string {
  const { protocol, hostname, href } = new URL(String(url));
  if (protocol === "https:" || (protocol === "http:" && loopback.test(hostname))) return href;
  throw new TypeError(`A page to visit is https, or http on this machine, and not ${protocol}//${hostname}`);
}
