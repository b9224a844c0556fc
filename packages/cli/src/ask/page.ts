// A page that a server wants the user to visit. It is shown whole, and opened only by who says so: --yes agrees, and opens nothing.
import type { AnswerContext, ElicitPage } from "plenum";
import { type Output, type Paint, toHarmless } from "../output.ts";
import type { Asked } from "./given.ts";
import { cancelled, promptChoice } from "./prompts.ts";
import { showAsker, showCancelled, showLine } from "./show.ts";

type PageAnswer = { readonly action: "accept" | "decline" | "cancel" };

export async function answerPage(ask: ElicitPage, ctx: AnswerContext, asked: Asked): Promise<PageAnswer> {
  const { isYes, output } = asked;
  showAsker(output, ctx, "asks you to visit a page:", ask.message);
  showUrl(ask.url, output);
  if (isYes) return { action: "accept" };
  const choice = await promptChoice({
    message: "Do you want to visit it?",
    options: [
      { value: "open", label: "Open the browser" },
      { value: "self", label: "Yes, I open it myself" },
      { value: "decline", label: "Decline" },
      { value: "cancel", label: "Cancel" },
    ],
    initial: "self",
    signal: ctx.signal,
  });
  if (choice === cancelled) showCancelled(ctx.signal);
  if (choice === cancelled || choice === "cancel") return { action: "cancel" };
  if (choice === "decline") return { action: "decline" };
  if (choice === "open") await open(ask.url);
  return { action: "accept" };
}

function showUrl(href: string, { paintNote }: Output): void {
  const url = new URL(href);
  showLine(`\n  ${withBoldHost(href, url.host, paintNote)}\n`);
  for (const doubt of doubtsOf(url)) showLine(`${paintNote("yellow", "warning:")} ${doubt}`);
}

/** The URL is as the URL parser writes it: its first occurrence of the host is the host. */
function withBoldHost(href: string, host: string, paint: Paint): string {
  const [before, ...after] = toHarmless(href).split(host);
  return `${before}${paint("bold", host)}${after.join(host)}`;
}

/** What a person should know before going there. */
export function doubtsOf({ hostname, protocol }: URL): readonly string[] {
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
  return [
    ...(hostname.split(".").some((label) => label.startsWith("xn--"))
      ? [`The name ${hostname} has letters that can look like others: it may not be the site that it seems to be.`]
      : []),
    ...(protocol === "http:" && !isHere ? ["What is sent to this page can be read on the way: it is not https."] : []),
  ];
}

async function open(href: string): Promise<void> {
  const { openBrowser } = await import("plenum/auth/node");
  // It refuses what is not safe to hand to a program.
  const isOpen = await openBrowser(new URL(href)).catch(() => false);
  if (!isOpen) showLine("The browser could not be opened. Open the address above yourself.");
}
