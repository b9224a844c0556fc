// What the program that opens pages is given, as that program sees it: one argument, whatever the address holds, and no shell on the
// way. CVE-2025-6514: an authorization server that names an address with a command in it.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleProgram } from "../client/harness.ts";
import { covers } from "../requirements/covers.ts";

interface Opened {
  /** What `openBrowser` said of each. */
  readonly said: readonly unknown[];
  /** The arguments of each call of the program. */
  readonly calls: readonly (readonly string[])[];
  /** What is in the folder in which all of it ran. */
  readonly files: readonly string[];
}

/** @param opener the text of a program that notes its arguments in calls.txt first; none: there is no such program */
async function openPages(urls: readonly string[], opener?: string): Promise<Opened> {
  const program = await bundleProgram("test/auth/fixtures/open-pages.ts");
  const folder = await mkdtemp(join(tmpdir(), "plenum-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const note = "#!/bin/sh\n{ printf '%s\\n' \"$@\"; echo; } >> calls.txt\n";
  if (opener !== undefined) await writeFile(join(folder, "xdg-open"), `${note}${opener}\n`, { mode: 0o755 });
  const before = await readdir(folder);
  const { stdout, stderr } = spawnSync(process.execPath, [program, JSON.stringify(urls)], {
    cwd: folder,
    env: { PATH: opener === undefined ? folder : `${folder}${delimiter}${process.env.PATH}` },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const noted = await readFile(join(folder, "calls.txt"), "utf8").catch(() => "");
  const files = (await readdir(folder)).filter((name) => !before.includes(name) && name !== "calls.txt");
  const calls = noted.split("\n\n").slice(0, -1);
  return { said: JSON.parse(stdout), calls: calls.map((call) => call.split("\n")), files };
}

test.runIf(process.platform === "linux")("the program is given one argument, and nothing in it is run", async () => {
  covers(["security-no-shell-open", "security-url-sanitised"]);
  const { said, calls, files } = await openPages(
    [
      "https://as.example/authorize?client_id=a&state=b",
      "https://as.example/$(touch pwned)?x=$(touch pwned)",
      "https://as.example/`touch pwned`",
      "https://as.example/?a=b&touch pwned&calc",
      "https://as.example/;touch$IFS$9pwned;",
      "https://as.example/|touch$IFS$9pwned",
      "https://as.example/'\"; touch pwned; '\"",
      "https://as.example/\ntouch pwned\n",
      "http://127.0.0.1:3000/--help -flag",
    ],
    // As careless as scripts can be.
    'eval "echo \\"$1\\"" > /dev/null',
  );
  expect(said).toEqual(said.map(() => true));
  expect(calls).toEqual([
    ["https://as.example/authorize?client_id=a&state=b"],
    ["https://as.example/%24%28touch%20pwned%29?x=%24%28touch%20pwned%29"],
    ["https://as.example/%60touch%20pwned%60"],
    ["https://as.example/?a=b&touch%20pwned&calc"],
    ["https://as.example/;touch%24IFS%249pwned;"],
    ["https://as.example/|touch%24IFS%249pwned"],
    ["https://as.example/%27%22;%20touch%20pwned;%20%27%22"],
    ["https://as.example/touch%20pwned"],
    ["http://127.0.0.1:3000/--help%20-flag"],
  ]);
  expect(files).toEqual([]);
});

test.runIf(process.platform === "linux")("what is no page of the web is not opened at all", async () => {
  covers(["security-auth-url-schemes", "security-no-shell-open"]);
  const { said, calls } = await openPages(
    [
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "vbscript:x",
      "com.example.app:/x",
      "a:$(touch pwned)?response_type=code",
      "http://as.example/",
      "https://as.example/?`touch`",
    ],
    "",
  );
  expect(said).toEqual(said.map(() => "unsafe_url"));
  expect(calls).toEqual([]);
});

test.runIf(process.platform === "linux").each([
  ["is missing", undefined, false],
  ["fails", "exit 3", false],
  ["stays for as long as the browser does", "sleep 4; exit 3", true],
])("a program that %s is told from one that opens", async (_, opener, expected) => {
  expect((await openPages(["https://as.example/"], opener)).said).toEqual([expected]);
});
