// How the sessioned era tells of changes: unasked for the lists whose capability was declared, and for resources
// that the client subscribed to.
import type { Connection } from "../../jsonrpc/connection.ts";
import { hasCapability } from "../capabilities.ts";
import type { Change } from "../endpoint.ts";
import { McpError } from "../errors.ts";
import { findMethod } from "../methods.ts";
import type { Session } from "./session.ts";

export function tellChange(
  connection: Connection,
  session: Session,
  change: Exclude<Change, { kind: "closing" | "elicitation" }>,
): void {
  // Before the client has said it is ready it is sent nothing of this kind.
  if (!session.initialized) return;
  if (change.kind === "resource") {
    const wanted = session.subscriptions?.has(change.uri) && hasCapability(session.capabilities, "resources.subscribe");
    if (wanted) connection.notify("notifications/resources/updated", { uri: change.uri });
    return;
  }
  const method = findMethod(`notifications/${change.kind}/list_changed`);
  if (method?.needs && hasCapability(session.capabilities, method.needs)) connection.notify(method.name);
}

export function subscribe(session: Session, uri: string, maxSubscriptions: number): void {
  session.subscriptions ??= new Set();
  const { subscriptions } = session;
  if (!subscriptions.has(uri) && subscriptions.size >= maxSubscriptions) {
    throw new McpError("invalid_params", `At most ${maxSubscriptions} resources can be watched`);
  }
  subscriptions.add(uri);
}
