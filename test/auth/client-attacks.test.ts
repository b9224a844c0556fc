// Servers and authorization servers that mean harm, and what they get: nothing.
import { createRedirect, oauth } from "plenum/auth/client";
import { createMemoryStore } from "plenum/store";
import { describe, expect, test, vi } from "vitest";
import { covers } from "../requirements/covers.ts";
import type { Answer } from "./place.ts";
import { follow, logIn, openStage, refusalOf, type Stage, textOf } from "./stage.ts";

/** What the test's places were asked, but for the server's own endpoint. */
const asked = (stage: Stage): string[] => stage.order.filter((one) => !one.endsWith("POST /mcp"));

describe("an authorization page", () => {
  test.each([
    "javascript:alert(1)//",
    "data:text/html,<script>1</script>",
    "file:///etc/passwd",
    "vbscript:x",
    "com.example.app:/x",
    "invented:x",
    "ms-settings:network",
    "http://example.com/authorize",
    "https://user:pass@example.com/authorize",
  ])("at %s is not shown", async (url) => {
    covers(["security-auth-url-schemes", "security-auth-url-allowlist", "security-ssrf-https", "security-as-https"]);
    const stage = await openStage();
    const redirect = follow();
    stage.authority.metadata.authorization_endpoint = url;
    expect(await refusalOf(logIn(stage, { redirect }))).toMatchObject({ code: "unsafe_url" });
    expect(redirect.visits).toEqual([]);
    expect(stage.authority.of("register")).toEqual([]);
  });

  test.each(["", "http://", "//host/path", "https://[::1", "not a url", "https://a b/", 5, null, {}])(
    "%j is no URL, and is called that",
    async (url) => {
      covers("security-url-sanitised");
      const members = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];
      for (const member of members) {
        const stage = await openStage();
        stage.authority.metadata[member] = url;
        const { code } = await refusalOf(logIn(stage));
        expect(["unsafe_url", "discovery_failed", "no_client"]).toContain(code);
        expect(stage.authority.of("token")).toEqual([]);
      }
      const stage = await openStage();
      stage.challenge = (usual) => ({ ...usual, header: `Bearer resource_metadata="${url}"` });
      expect(await refusalOf(logIn(stage))).toMatchObject({ code: "unsafe_url" });
      const third = await openStage();
      third.metadata.authorization_servers = [url];
      const { code } = await refusalOf(logIn(third));
      expect(["unsafe_url", "discovery_failed"]).toContain(code);
    },
  );
});

describe("mix-up", () => {
  test("the code of an honest server does not go to another that is asked", async () => {
    covers(["auth-flow-iss-compare", "auth-flow-record-issuer"]);
    const stage = await openStage();
    const honest = await stage.openAuthority("honest");
    // The attacker's authorization server sends the user to the honest one, whose code it wants.
    const evil = stage.authority;
    evil.metadata.authorization_endpoint = honest.metadata.authorization_endpoint;
    for (const isSaid of [true, false]) {
      evil.metadata.authorization_response_iss_parameter_supported = isSaid;
      expect(await refusalOf(logIn(stage))).toMatchObject({ code: "issuer_mismatch" });
    }
    expect((await refusalOf(logIn(stage))).message).toContain(`is from "${honest.issuer}"`);
    expect(honest.of("authorize").length).toBeGreaterThan(0);
    expect(evil.of("token")).toEqual([]);
  });

  test("a code of somebody else's is not redeemed", async () => {
    covers("security-state-verified");
    const stage = await openStage();
    const victim = await openStage();
    let stolen = "";
    await logIn(victim, {
      redirect: createRedirect({
        uri: "http://127.0.0.1:9/callback",
        async open(url) {
          stolen = (await fetch(url, { redirect: "manual" })).headers.get("location") ?? "";
          return stolen;
        },
      }),
    });
    const redirect = createRedirect({ uri: "http://127.0.0.1:9/callback", open: async () => stolen });
    expect(await refusalOf(logIn(stage, { redirect }))).toMatchObject({ code: "state_mismatch" });
    expect(stage.authority.of("token")).toEqual([]);
  });
});

describe("a token endpoint", () => {
  test.each([301, 302, 303, 307, 308])("that leads elsewhere (%s) does not get the code there", async (status) => {
    covers(["security-ssrf-redirects", "auth-flow-client-own-tokens"]);
    const stage = await openStage();
    const thief = await stage.open("thief");
    thief.pages.set("/token", { body: { access_token: "bait", token_type: "Bearer" } });
    stage.authority.bendToken = () => ({ status, headers: { location: `${thief.origin}/token` } });
    const error = await refusalOf(logIn(stage));
    expect(error.code).toBe("unsafe_url");
    expect(stage.order.filter((one) => one.startsWith("thief"))).toEqual([]);
  });

  test.each<[string, Answer]>([
    ["garbage", { body: "<html>no</html>" }],
    ["nothing", { body: "" }],
    ["null", { body: "null" }],
    ["a list", { body: [] }],
    ["no token", { body: { token_type: "Bearer" } }],
    ["a token that is none", { body: { access_token: 5, token_type: "Bearer" } }],
    ["no type", { body: { access_token: "x" } }],
    ["a type that is not known", { body: { access_token: "x", token_type: "MAC" } }],
    ["a token with a line break", { body: { access_token: "x\r\nx-evil: 1", token_type: "Bearer" } }],
    ["a token beyond ASCII", { body: { access_token: "xé☃", token_type: "Bearer" } }],
    ["an empty token", { body: { access_token: "", token_type: "Bearer" } }],
    ["a time that is none", { body: { access_token: "x", token_type: "Bearer", expires_in: "soon" } }],
    ["a token that is bound to a key", { body: { access_token: "x", token_type: "DPoP" } }],
    ["another status", { status: 418, body: "teapot" }],
    ["500", { status: 500 }],
    ["an error that is none", { status: 400, body: { error: 5 } }],
    ["a cut", { isCut: true }],
    ["too much", { body: { access_token: "x".repeat(400_000), token_type: "Bearer" } }],
  ])("that answers with %s gives an error of its kind", async (_, answer) => {
    const stage = await openStage();
    stage.authority.bendToken = () => answer;
    const error = await refusalOf(logIn(stage));
    expect(["token_failed", "unsafe_url"]).toContain(error.code);
    expect(stage.calls().every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });
});

describe("metadata that leads inside", () => {
  const lookup = async (host: string): Promise<readonly string[]> =>
    host === "inside.example" ? ["203.0.114.1", "10.0.0.7"] : ["8.8.8.8"];

  test.each([
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/x",
    "https://[::ffff:7f00:1]/x",
    "https://[fd00::1]/x",
    "https://0x7f.1/x",
    "https://2130706433/x",
    "https://localhost/x",
    "https://localhost./x",
    "https://a.localhost/x",
    "https://inside.example/x",
    "http://127.0.0.1:1/x",
  ])("%s is not fetched by a service", async (url) => {
    covers(["security-ssrf-private-ranges", "security-ssrf-https"]);
    const fetch = vi.fn(async () => new Response("{}"));
    const auth = oauth({ redirect: follow(), blockPrivateAddresses: true, lookup, fetch });
    const server = new URL("https://mcp.example/mcp");
    const request = { method: "POST", url: server, server };
    const header = (name: string): string | undefined =>
      name === "www-authenticate" ? `Bearer resource_metadata="${url}"` : undefined;
    await expect(auth.refused(request, { status: 401, header }, {})).rejects.toMatchObject({ code: "unsafe_url" });
    expect(fetch).not.toHaveBeenCalled();
  });

  test("is not followed there, from wherever", async () => {
    covers(["security-ssrf-redirects", "security-ssrf-private-ranges", "security-ssrf-egress"]);
    const places: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      places.push(url);
      return new Response(null, { status: 302, headers: { location: "https://10.0.0.1/x" } });
    };
    const auth = oauth({ redirect: follow(), blockPrivateAddresses: true, lookup, fetch });
    const server = new URL("https://mcp.example/mcp");
    const refused = auth.refused({ method: "POST", url: server, server }, { status: 401, header: () => undefined }, {});
    await expect(refused).rejects.toMatchObject({ code: "unsafe_url" });
    expect(places).toEqual(["https://mcp.example/.well-known/oauth-protected-resource/mcp"]);
  });

  test("on another origin of this machine is not reached by a redirect either", async () => {
    covers("security-ssrf-redirects");
    const stage = await openStage();
    const inside = await stage.open("inside");
    stage.place.pages.set("/.well-known/oauth-protected-resource/mcp", {
      status: 302,
      headers: { location: `${inside.origin}/secret` },
    });
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "unsafe_url" });
    expect(stage.order.filter((one) => one.startsWith("inside"))).toEqual([]);
  });

  test.each(["http://example.com/meta", "ftp://127.0.0.1/meta", "file:///etc/passwd"])(
    "%s is not fetched by anybody",
    async (url) => {
      covers(["security-ssrf-https", "security-url-sanitised"]);
      const stage = await openStage();
      stage.challenge = (usual) => ({ ...usual, header: `Bearer resource_metadata="${url}"` });
      expect(await refusalOf(logIn(stage))).toMatchObject({ code: "unsafe_url" });
      const second = await openStage();
      second.metadata.authorization_servers = [url];
      expect(await refusalOf(logIn(second))).toMatchObject({ code: "unsafe_url" });
    },
  );

  test("is not shown where it would write on the terminal", async () => {
    covers("security-url-sanitised");
    const stage = await openStage();
    stage.metadata.authorization_servers = ["https://login.example/\u001b[2K\rplenum: all is well\n"];
    const error = await refusalOf(logIn(stage));
    expect(error).toMatchObject({ code: "unsafe_url" });
    expect(error.message).not.toMatch(/\p{Cc}|all is well/u);
  });

  test("no token is fetched for a server that is spoken to in the clear", async () => {
    covers("security-ssrf-https");
    const fetch = vi.fn(async () => new Response("{}"));
    const auth = oauth({ redirect: follow(), fetch });
    const server = new URL("http://mcp.example/mcp");
    const header = (): string => 'Bearer resource_metadata="https://mcp.example/meta"';
    const refused = auth.refused({ method: "POST", url: server, server }, { status: 401, header }, {});
    await expect(refused).rejects.toMatchObject({ code: "unsafe_url" });
    expect(fetch).not.toHaveBeenCalled();
  });

  test("that is too large, or does not come, ends", async () => {
    const stage = await openStage();
    const path = "/.well-known/oauth-protected-resource/mcp";
    stage.place.pages.set(path, { body: { ...stage.metadata, more: "x".repeat(300_000) } });
    expect(await refusalOf(logIn(stage))).toMatchObject({ code: "unsafe_url" });
    stage.place.pages.set(path, { body: stage.metadata, delayMs: 1000 });
    const error = await refusalOf(logIn(stage, { timeoutMs: 100 }));
    expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining(path) });
    expect(asked(stage).filter((one) => one.startsWith("authority"))).toEqual([]);
  });

  test("a fetch that heeds nothing is given up", async () => {
    const auth = oauth({ redirect: follow(), fetch: () => new Promise(() => {}), timeoutMs: 50 });
    const server = new URL("https://mcp.example/mcp");
    const refused = auth.refused({ method: "POST", url: server, server }, { status: 401, header: () => undefined }, {});
    await expect(refused).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("a challenge", () => {
  test.each([
    ["of many schemes", Array.from({ length: 500 }, (_, i) => `s${i} a=b`).join(", ")],
    ["of commas", ",".repeat(8000)],
    ["of spaces", `Bearer ${" ".repeat(7000)}x`],
    ["of backslashes", `Bearer a="${"\\".repeat(7000)}`],
    ["of quotes", 'Bearer a="'.repeat(700)],
    ["of words", "a ".repeat(4000)],
    ["of equal signs", `Bearer ${"a=".repeat(3500)}`],
    ["that is too long", `Bearer scope="${"x".repeat(9000)}"`],
  ])("%s costs nothing, and the client goes on", async (_, header) => {
    covers("auth-discovery-client-parse-challenge");
    const stage = await openStage();
    stage.challenge = (usual) => ({ ...usual, header });
    const client = await logIn(stage);
    expect((await client.callTool("tell")).text).toBe("told");
  });

  test("that refuses a new token is quoted, on one short line, without the token", async () => {
    const stage = await openStage();
    const words = `the clock is wrong\\\n${"x".repeat(5000)}`;
    const said = (description: string) => `Bearer error="invalid_token", error_description="${description}"`;
    let refuse = (_token: string): string => said("");
    stage.challenge = (usual, { token }) => (token ? { ...usual, header: refuse(token) } : usual);
    stage.authority.tokens.set = () => stage.authority.tokens;
    refuse = () => said(words.replaceAll("\n", "\t"));
    const { message } = await refusalOf(logIn(stage));
    expect(message).toContain("It says: invalid_token, the clock is wrong");
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(600);
    refuse = (token) => said(`no such token: ${token}`);
    const error = await refusalOf(logIn(stage));
    for (const secret of stage.authority.secrets) expect(textOf(error)).not.toContain(secret);
  });

  test("is answered a bounded number of times: 401 for ever", async () => {
    const stage = await openStage();
    const redirect = follow();
    const client = await logIn(stage, { redirect });
    await client.listTools().all();
    const before = stage.calls().length;
    for (const issued of stage.authority.tokens.values()) issued.isRevoked = true;
    // What is given from now on is not taken either.
    stage.authority.tokens.set = () => stage.authority.tokens;
    const error = await refusalOf(client.callTool("tell"));
    expect(error).toMatchObject({ code: "unauthorized", error: "invalid_token" });
    expect(error.message).toMatch(/It says: invalid_token$/);
    expect(stage.calls().length - before).toBeLessThanOrEqual(3);
    expect(redirect.visits.length).toBeLessThanOrEqual(2);
    // And the next call is not held against the first.
    await expect(client.callTool("tell")).rejects.toThrow();
    expect(stage.runs).toBe(0);
  });

  test("also for several at once, with one visit", async () => {
    const stage = await openStage();
    const redirect = follow();
    stage.authority.hasRefresh = false;
    const client = await logIn(stage, { redirect });
    stage.authority.revoke();
    stage.authority.tokens.set = () => stage.authority.tokens;
    const ends = await Promise.allSettled([1, 2, 3, 4].map(() => client.callTool("tell")));
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "rejected"]);
    expect(redirect.visits).toHaveLength(2);
  });
});

describe("secrets", () => {
  test("are in no error, whatever fails and whatever the other side repeats", async () => {
    covers(["security-token-storage-client", "auth-flow-refresh-confidential"]);
    const echo = (stage: Stage, text: string): Answer => ({
      status: 400,
      body: { error: "invalid_grant", error_description: `${text} ${[...stage.authority.secrets].join(" ")}` },
    });
    const bends: ((stage: Stage) => void)[] = [
      (stage) => {
        stage.authority.bendToken = (_, seen) => echo(stage, seen.body);
      },
      (stage) => {
        stage.authority.bendToken = (answer) => ({ ...answer, body: { ...(answer.body as object), token_type: "x" } });
      },
      (stage) => {
        stage.authority.bendToken = (answer) => ({ body: `<${JSON.stringify(answer.body)}` });
      },
      (stage) => {
        stage.authority.bendPage = (answer) => ({
          ...answer,
          headers: { location: `${answer.headers?.location}&state=again` },
        });
      },
      (stage) => {
        stage.authority.bendPage = (answer) => ({
          ...answer,
          headers: { location: `${answer.headers?.location}`.replace("iss=", "iss=x") },
        });
      },
      (stage) => {
        stage.authority.bendToken = (_, seen) => ({
          status: 302,
          headers: { location: `https://other.example/?${seen.body}` },
        });
      },
      (stage) => {
        stage.challenge = (usual, { token }) =>
          token ? { status: 403, header: `Bearer error="insufficient_scope", scope="a", realm="${token}"` } : usual;
        stage.scopes = ["b"];
        stage.authority.bendPage = (answer, seen) => {
          seen.query.set("scope", "c");
          return answer;
        };
      },
    ];
    for (const bend of bends) {
      const stage = await openStage();
      bend(stage);
      const error = await logIn(stage, { client: { id: "mine", secret: "hunter2hunter2" } }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      const text = textOf(error);
      expect(stage.authority.secrets.size).toBeGreaterThan(0);
      for (const secret of [...stage.authority.secrets, "hunter2"]) expect(text).not.toContain(secret);
      const verifier = stage.authority.of("token")[0]?.form.get("code_verifier");
      if (verifier) expect(text).not.toContain(verifier);
    }
  });

  test("go to the store, to their server, and nowhere else", async () => {
    covers(["security-token-storage-client", "auth-flow-refresh-confidential"]);
    const said: unknown[] = [];
    for (const name of ["log", "warn", "error", "info", "debug"] as const)
      vi.spyOn(console, name).mockImplementation((...words) => void said.push(...words));
    try {
      const stage = await openStage();
      stage.authority.expiresIn = 1;
      const client = await logIn(stage);
      await client.callTool("tell");
      const refreshTokens = [...stage.authority.secrets].filter((one) => one.startsWith("refresh"));
      expect(refreshTokens.length).toBeGreaterThan(1);
      for (const { place, path, headers, body, query } of stage.log) {
        const text = `${JSON.stringify(headers)} ${body} ${query}`;
        for (const token of refreshTokens)
          if (text.includes(token)) expect(`${place} ${path}`).toBe("authority /token");
      }
      expect(said).toEqual([]);
    } finally {
      vi.restoreAllMocks();
    }
  });

  test("that are broken in the store are not shown, and the user logs in again", async () => {
    covers("security-token-storage-client");
    const stage = await openStage();
    const store = createMemoryStore();
    await logIn(stage, { store });
    const key = `oauth:${JSON.stringify(["tokens", stage.authority.issuer, stage.url])}`;
    await store.put(key, `secret${await store.get(key)}`);
    const redirect = follow();
    const client = await logIn(stage, { store, redirect });
    expect((await client.callTool("tell")).text).toBe("told");
    expect(redirect.visits).toHaveLength(1);
  });
});
