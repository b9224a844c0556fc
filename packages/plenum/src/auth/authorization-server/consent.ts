// The user's permission: the page that asks for it, and what is remembered of it. It is for one client, which is led back to one
// place, and for what it asked.
import type { Store } from "../../store/store.ts";
import { digestOf } from "../../util/digest.ts";
import { toLine } from "../../util/quote.ts";
import { isLoopbackHost } from "../guarded-fetch.ts";
import type { RouteAnswer } from "../route.ts";
import type { Client } from "./client.ts";
import type { Grants } from "./grant.ts";
import { type Html, html, toPage } from "./pages.ts";
import type { Asked } from "./pending.ts";
import { createRecords } from "./records.ts";
import type { Settings } from "./settings.ts";

export interface Consents {
  /** Whether the user has allowed as much before, and need not be asked. */
  has(subject: string, asked: Asked, client: Client): Promise<boolean>;
  remember(subject: string, asked: Asked, client: Client): Promise<void>;
}

export const rememberS: number = 30 * 86_400;

/**
 * Only clients that show the token endpoint who they are. Whoever pretends to be one of the others, or leads a browser here in
 * place of one, would get what the user once allowed, without anybody seeing it.
 */
function isRemembered({ authMethod }: Client): boolean {
  return authMethod !== "none";
}

interface Remembered {
  readonly scopes: readonly string[];
  /** When the user said so, in ms since 1970. */
  readonly at: number;
}

export function createConsents(store: Store, issuer: string, { isRevoked }: Pick<Grants, "isRevoked">): Consents {
  const records = createRecords<Remembered>(store, issuer, "consent");
  const idOf = (subject: string, { clientId, redirectUri, resource }: Asked): Promise<string> =>
    digestOf(JSON.stringify([subject, clientId, placeOf(redirectUri).name, resource]));
  return {
    async has(subject, asked, client) {
      if (!isRemembered(client)) return false;
      const held = await records.get(await idOf(subject, asked));
      if (!held || !asked.scopes.every((scope) => held.value.scopes.includes(scope))) return false;
      return !(await isRevoked(subject, held.value.at));
    },
    async remember(subject, asked, client) {
      if (!isRemembered(client)) return;
      await records.put(await idOf(subject, asked), { scopes: asked.scopes, at: Date.now() }, { ttlS: rememberS });
    },
  };
}

/** Where a redirect URI leads to, in one name. */
interface Place {
  readonly kind: "site" | "machine" | "program";
  /** A host, with its port where it has one; or a scheme. */
  readonly name: string;
}

function placeOf(redirectUri: string): Place {
  const { protocol, hostname, host } = new URL(redirectUri);
  if (protocol === "https:") return { kind: "site", name: host };
  return protocol === "http:" && isLoopbackHost(hostname)
    ? // Its port is another each time.
      { kind: "machine", name: hostname }
    : { kind: "program", name: protocol };
}

/** Whether we may send a browser there though nobody at it has said so: the application vouches for it, or no site is there. */
export function isTrusted({ origin }: Client, redirectUri: string): boolean {
  return origin === "given" || placeOf(redirectUri).kind !== "site";
}

/** Whether the user has to say that he knows it: the application does not. */
function needsTick({ origin }: Client): boolean {
  return origin !== "given";
}

/** Whether a form that allows it says all that it has to: browsers see to it, others may not. */
export function isSure(form: URLSearchParams, client: Client): boolean {
  return !needsTick(client) || form.get("sure") === "on";
}

export interface ConsentPage {
  readonly settings: Pick<Settings, "name" | "scopes">;
  readonly client: Client;
  readonly asked: Asked;
  /** Undefined where a third party will say who it is. */
  readonly subject: string | undefined;
  readonly action: string;
  readonly csrf: string;
  /** It was allowed, but for the tick. */
  readonly isAgain?: boolean;
}

/**
 * No policy for where its form leads to: browsers would hold it against all that the client's own page redirects to as well, and
 * that may be anything, such as a program. Nothing is typed into this form.
 */
export function toConsentPage(page: ConsentPage): RouteAnswer {
  const { settings, client, asked, subject, action, csrf, isAgain = false } = page;
  const { origin, redirectUris } = client;
  const name = client.name === undefined ? "" : toLine(client.name, 100).trim();
  const place = placeOf(asked.redirectUri);
  const isOnMachine = redirectUris.every((uri) => placeOf(uri).kind !== "site");
  const body = html`
<p><strong><bdi>${name === "" ? "An application without a name" : name}</bdi></strong> wants access to
<strong>${new URL(asked.resource).host}</strong>${subject !== undefined && html` in your name (<bdi>${toLine(subject, 100)}</bdi>)`}.</p>
${needsTick(client) && html`<p class="warning">This name is the application's own word. Nobody has checked it.</p>`}
${isOnMachine && machineWarning}
<dl>
<dt>What it may do</dt>
<dd>${toScopeList(asked.scopes, settings.scopes)}</dd>
<dt>Where you are led then</dt>
<dd><strong>${place.name}</strong>${toPlaceNote(place)}<br><code>${asked.redirectUri}</code></dd>
<dt>Who asks</dt>
<dd>${origin === "document" && html`<strong>${hostOf(client.id)}</strong><br>`}<code>${toLine(client.id, 300)}</code></dd>
<dt>For which server</dt>
<dd><code>${asked.resource}</code></dd>
</dl>
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${isAgain && html`<p class="warning">To allow it, say first that you know it.</p>`}
${needsTick(client) && tick}
<button name="answer" value="deny" formnovalidate>Deny</button><button name="answer" value="allow">Allow</button>
</form>`;
  return toPage({
    title: `Allow access? (${settings.name})`,
    body,
    status: isAgain ? 400 : 200,
    formAction: undefined,
  });
}

const machineWarning: Html = html`<p class="warning">The answer goes to a program on this computer, and any program could have
called itself that. Allow it only if you have started it yourself, just now.</p>`;

/** Two clicks in two places: one that a page of somebody else's has got out of the user, for what was there before, is not enough. */
const tick: Html = html`<label><input type="checkbox" name="sure" value="on" required> I came here from this application, and I know it.</label>`;

function toPlaceNote({ kind }: Place): string {
  if (kind === "machine") return " (a program on this computer)";
  return kind === "program" ? " (a program on this device that opens such addresses)" : "";
}

function toScopeList(scopes: readonly string[], meanings: Settings["scopes"]): Html {
  if (scopes.length === 0) return html`What everybody may who is logged in.`;
  const items = scopes.map((scope) => html`<li>${meanings[scope] ?? scope} <code>${scope}</code></li>`);
  return html`<ul>${items}</ul>`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
