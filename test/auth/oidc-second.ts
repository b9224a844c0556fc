// Another program of the same user: it finds what the first has left in a file, and asks nobody. Prints what the server says of
// its caller.
import { connect } from "plenum";
import { oauth } from "plenum/auth/client";
import { fileTokens } from "plenum/auth/node";

const [url = "", path = ""] = process.argv.slice(2);
const client = await connect({ url, auth: oauth({ store: fileTokens(path) }) });
console.log((await client.callTool("whoami")).text);
await client.close();
