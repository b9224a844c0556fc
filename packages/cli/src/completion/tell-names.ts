// The process that ask-server.ts starts: connects to the server, writes what it has as one line of JSON, and ends.
import { readFileSync, writeSync } from "node:fs";
import { type Client, connect, type JsonObject, type Target } from "plenum";
import { endProcess } from "../ending.ts";
import { version } from "../identity.ts";
import { createOutput } from "../output.ts";
import { listTypes, resolveSchema } from "../schema-look.ts";
import { openTarget } from "../session.ts";
import { findTarget } from "../target/find.ts";
import { answerDescriptor, type Question } from "./ask-server.ts";
import type { ArgumentName, NameKind, ServerName, ServerNames } from "./server-names.ts";

/** Ends the process. What goes wrong is nobody's to read: no answer says it. */
export async function tellNames(): Promise<never> {
  try {
    const question = JSON.parse(readFileSync(0, "utf8")) as Question;
    writeAll(`${JSON.stringify(await findNames(question))}\n`);
  } catch {
    // Said by the missing answer.
  }
  endProcess();
}

function writeAll(text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(answerDescriptor, bytes));
    } catch (error) {
      // The reader is slower than we are.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

async function findNames({ kind, target, headers }: Question): Promise<ServerNames> {
  const client = await connect(await open(target, headers), { info: { name: "plenum-cli", version } });
  return listOf[kind](client);
}

async function open(text: string, header: readonly string[]): Promise<Target> {
  const spec = await findTarget(text, undefined, { header, env: [], cwd: undefined });
  if (spec.kind === "url") {
    // Without authorization: nobody who presses a key wants a browser to open.
    const { httpTarget } = await import("plenum/http/client");
    return httpTarget({ url: spec.url, headers: spec.headers });
  }
  const output = createOutput({ isJson: false, isQuiet: true, color: false });
  const { target } = await openTarget(spec, { options: { stderr: false, trace: false }, output });
  return target;
}

const listOf: { readonly [K in NameKind]: (client: Client) => Promise<ServerNames> } = {
  async tools(client) {
    const tools = await client.listTools().all();
    return tools.map(({ name, title, description, inputSchema }) => ({
      name,
      description: toLine(description ?? title),
      arguments: fromSchema(inputSchema as JsonObject),
    }));
  },
  async prompts(client) {
    const prompts = await client.listPrompts().all();
    return prompts.map(({ name, title, description, arguments: args = [] }) => ({
      name,
      description: toLine(description ?? title),
      arguments: args.map((one) => ({
        name: one.name,
        description: toLine(one.description),
        isRequired: one.required === true,
        isList: false,
        values: [],
      })),
    }));
  },
  async resources(client) {
    const resources = await client.listResources().all();
    return resources.map(
      ({ uri, name, title, description }): ServerName => ({
        name: uri,
        description: toLine(description ?? title ?? name),
        arguments: [],
      }),
    );
  },
};

const maxLength = 100;

/** The beginning of a text, on one line. */
function toLine(text: string | undefined): string | undefined {
  const line = text?.replace(/\s+/g, " ").trim();
  return line && line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}

function fromSchema(schema: JsonObject): ArgumentName[] {
  const { properties, required } = resolveSchema(schema, schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries((properties ?? {}) as { readonly [name: string]: JsonObject }).map(([name, given]) => {
    const own = resolveSchema(given, schema);
    const types = listTypes(own, schema);
    const items = resolveSchema((own.items ?? {}) as JsonObject, schema);
    return {
      name,
      description: toLine(typeof own.description === "string" ? own.description : [...(types ?? [])].join(" or ")),
      isRequired: needed.has(name),
      isList: types?.has("array") === true,
      values: [...valuesOf(own), ...valuesOf(items)],
    };
  });
}

function valuesOf(schema: JsonObject): string[] {
  if (Array.isArray(schema.enum)) return schema.enum.map(String);
  if ("const" in schema) return [String(schema.const)];
  return schema.type === "boolean" ? ["true", "false"] : [];
}
