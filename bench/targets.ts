// What is measured, one entry each. A new one needs an entry here and a folder in peers/ with the programs that it names; with a
// package.json and a package-lock.json there, its packages are installed into .cache when it is measured, apart from the
// workspace. Its server offers the tools of peers/common.mjs.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { apartFolder, ensureApart } from "../test/apart.ts";
import { root } from "../test/house/source.ts";
import type { Program, Target } from "./case.ts";

const peers = join(root, "bench", "peers");

const isApart = (name: string): boolean => existsSync(join(peers, name, "package.json"));
const sourceOf = (name: string): string => `bench/peers/${name}`;

/** Imports are looked up from where a file lies: what is installed apart gets a copy of the programs beside it. */
const copiesOf = (name: string): string => join(apartFolder(sourceOf(name)), "peers");
const homeOf = (name: string): string => (isApart(name) ? join(copiesOf(name), name) : join(peers, name));

function define(name: string, title: string, packages: readonly string[], rest: Partial<Target>): Target {
  return { name, title, home: homeOf(name), packages, ...rest };
}

const stdio: Program = ["server.mjs", "stdio"];

function http(...modes: readonly string[]): { [mode: string]: Program } {
  return Object.fromEntries(modes.map((mode): [string, Program] => [mode, ["server.mjs", "http", mode, "{port}"]]));
}

const transports = ["http-json", "http-sse", "stdio"];
const eras = (file: string) =>
  ({ legacy: { file, transports, era: "legacy" }, modern: { file, transports, era: "modern" } }) as const;

export const targets: readonly Target[] = [
  define("bare", "bare Node", [], {
    stdio,
    http: http("session-json", "session-sse"),
    client: {
      "node-http": { file: "client.mjs", transports },
      fetch: { file: "client-fetch.mjs", transports: ["http-json", "http-sse"] },
    },
    inproc: { pair: { file: "inproc.mjs" } },
    programs: {
      elicit: {
        "session-sse": ["rounds.mjs", "{port}"],
        "modern-json": ["rounds.mjs", "{port}"],
      },
      resume: { "session-sse": ["rounds.mjs", "{port}"] },
    },
  }),
  define("plenum", "Plenum", ["plenum"], {
    stdio,
    http: http("session-json", "session-sse", "stateless-json", "stateless-sse", "modern-json", "modern-sse"),
    client: eras("client.mjs"),
    inproc: { legacy: { file: "inproc.mjs", era: "legacy" }, modern: { file: "inproc.mjs", era: "modern" } },
    footprint: { all: "pack" },
    programs: { cold: { "stdio, JSON Schema": ["cold.mjs"] } },
  }),
  define("v1", "official 1.x", ["@modelcontextprotocol/sdk"], {
    stdio,
    http: http(
      "session-json",
      "session-sse",
      "stateless-json",
      "stateless-sse",
      "session-json, node:http",
      "session-sse, node:http",
    ),
    client: { legacy: { file: "client.mjs", transports } },
    inproc: { legacy: { file: "inproc.mjs" } },
    footprint: { all: ["@modelcontextprotocol/sdk"] },
  }),
  define(
    "v2",
    "official 2.x",
    ["@modelcontextprotocol/server", "@modelcontextprotocol/node", "@modelcontextprotocol/client"],
    {
      stdio,
      http: http("session-json", "session-sse", "stateless-sse", "modern-auto", "modern-sse"),
      client: eras("client.mjs"),
      inproc: { legacy: { file: "inproc.mjs", era: "legacy" }, "modern, fetch": { file: "inproc.mjs", era: "modern" } },
      footprint: {
        all: ["@modelcontextprotocol/server", "@modelcontextprotocol/node", "@modelcontextprotocol/client"],
        "server, no HTTP": ["@modelcontextprotocol/server"],
        server: ["@modelcontextprotocol/server", "@modelcontextprotocol/node"],
        client: ["@modelcontextprotocol/client"],
      },
    },
  ),
  define("tmcp", "tmcp", ["tmcp", "@tmcp/transport-http", "@tmcp/transport-stdio"], {
    stdio,
    http: http("session-sse", "modern-sse"),
    footprint: {
      all: [
        "tmcp",
        "@tmcp/transport-http",
        "@tmcp/transport-stdio",
        "@tmcp/adapter-zod",
        "zod",
        "@remix-run/node-fetch-server",
      ],
    },
  }),
  define("fastmcp", "fastmcp", ["fastmcp"], {
    stdio,
    http: http("session-json", "session-sse", "stateless-json", "stateless-sse"),
    footprint: { all: ["fastmcp"] },
  }),
  define("hono-mcp", "@hono/mcp", ["@hono/mcp", "hono"], {
    http: http("session-json", "session-sse", "stateless-sse"),
    footprint: { all: ["@hono/mcp", "@modelcontextprotocol/sdk", "hono", "@hono/node-server"] },
  }),
];

/** Installs what a target needs, if it is not there, and puts its programs beside it. */
export async function prepare({ name, home }: Target): Promise<void> {
  if (!isApart(name)) return;
  await ensureApart(sourceOf(name));
  mkdirSync(home, { recursive: true });
  copyFileSync(join(peers, "common.mjs"), join(copiesOf(name), "common.mjs"));
  for (const file of readdirSync(join(peers, name))) {
    if (file.endsWith(".mjs")) copyFileSync(join(peers, name, file), join(home, file));
  }
}

/** The versions of a target's packages, as they are installed. */
export function versionsOf({ name, packages }: Target): { [name: string]: string } {
  const modules = join(isApart(name) ? apartFolder(sourceOf(name)) : root, "node_modules");
  return Object.fromEntries(
    packages.map((one) => {
      const { version } = JSON.parse(readFileSync(join(modules, one, "package.json"), "utf8")) as { version: string };
      return [one, version];
    }),
  );
}
