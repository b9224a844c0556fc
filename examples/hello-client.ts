// A client in a few lines: connects to any server over stdio or HTTP, whatever revision it speaks, and looks around.
//   node --conditions=plenum-source --import tsx examples/hello-client.ts                     the echo example, as a child process
//   node --conditions=plenum-source --import tsx examples/hello-client.ts npx -y some-server  a server of your choice
//   node --conditions=plenum-source --import tsx examples/hello-client.ts http://127.0.0.1:3000/mcp   one that runs, such as npm start
import { fileURLToPath } from "node:url";
import { connect } from "plenum";

const echo = [...process.execArgv, fileURLToPath(new URL("echo.ts", import.meta.url))];
const [command = process.execPath, ...args] = process.argv.slice(2);

const child = { command, args: process.argv.length > 2 ? args : echo, stderr: "inherit" as const };
const client = await connect(/^https?:/.test(command) ? command : child).catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
const { info, capabilities } = client.server;
console.log(`${info?.name} ${info?.version} speaks ${client.revision}`);

if (capabilities.tools) {
  for await (const tool of client.listTools()) console.log(`tool      ${tool.name}  ${tool.description ?? ""}`);
}
if (capabilities.resources) {
  for await (const resource of client.listResources()) console.log(`resource  ${resource.uri}`);
  for await (const { uriTemplate } of client.listResourceTemplates()) console.log(`template  ${uriTemplate}`);
}
if (capabilities.prompts) {
  for await (const prompt of client.listPrompts()) console.log(`prompt    ${prompt.name}`);
}

if (process.argv.length === 2) {
  const { text } = await client.callTool("echo", { message: "Hello" }, { timeoutMs: 10_000 });
  console.log(text);
  const { contents } = await client.readResource("echo://World");
  console.log(JSON.stringify(contents));
}
await client.close();
