// Of Deno, Bun and Workers, whose types cannot stand beside those of Node, what the examples use. That the examples suit
// the real ones is shown by running them.
declare module "cloudflare:workers" {
  export const env: { readonly SECRET: string };
}

declare const Deno: {
  readonly env: { get(name: string): string | undefined };
  serve(
    options: { hostname: string; port: number; onListen(at: { hostname: string; port: number }): void },
    handler: (request: Request) => Promise<Response>,
  ): unknown;
};

declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    fetch: (request: Request) => Promise<Response>;
  }): { readonly port: number };
};
