import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { html, styleHash, toErrorPage, toPage, toRedirect } from "./pages.ts";

describe("markup", () => {
  test("is only what was written as such", () => {
    const bad = `<script>&"'</script>`;
    expect(html`<p title="${bad}">${bad}</p>`.html).toBe(
      `<p title="&lt;script&gt;&amp;&quot;&#39;&lt;/script&gt;">&lt;script&gt;&amp;&quot;&#39;&lt;/script&gt;</p>`,
    );
  });

  test("can be put together", () => {
    expect(html`<ul>${["<a>", html`<b>`]}${false}${undefined}</ul>`.html).toBe("<ul>&lt;a&gt;<b></ul>");
  });
});

test("the policy allows the style, and nothing else", () => {
  const { headers = {}, body } = toPage({ title: "A <title>", body: html`<p>x</p>` });
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(String(body)) ?? [];
  expect(styleHash).toBe(`sha256-${createHash("sha256").update(style).digest("base64")}`);
  expect(headers["content-security-policy"]).toBe(
    `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'`,
  );
  expect(body).toContain("<title>A &lt;title&gt;</title>");
});

test("where forms lead to can be left open, and closed", () => {
  const policyOf = (formAction: "'none'" | undefined) =>
    toPage({ title: "", body: html``, formAction }).headers?.["content-security-policy"];
  expect(policyOf(undefined)).not.toContain("form-action");
  expect(policyOf("'none'")).toContain("form-action 'none'");
});

test("an error is a page, with its status", () => {
  const { status, headers, body } = toErrorPage(403, "It was <not> here", { "retry-after": "1" });
  expect(status).toBe(403);
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-frame-options": "DENY", "retry-after": "1" });
  expect(body).toContain("It was &lt;not&gt; here.");
});

test("what was posted is not posted again", () => {
  expect(toRedirect("https://a.example/", "POST").status).toBe(303);
  expect(toRedirect("https://a.example/", "GET", "a=b")).toEqual({
    status: 302,
    headers: {
      ...{ location: "https://a.example/", "cache-control": "no-store", "referrer-policy": "no-referrer" },
      "set-cookie": "a=b",
    },
  });
});
