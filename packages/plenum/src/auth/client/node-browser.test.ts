import { expect, test } from "vitest";
import { covers } from "../../../../../test/requirements/covers.ts";
import { toOpenable, toOpener } from "./node-browser.ts";

const page = "https://as.example/authorize?client_id=a&state=b";

test.each([
  ["linux", ["xdg-open", page]],
  ["freebsd", ["xdg-open", page]],
  ["darwin", ["/usr/bin/open", page]],
  ["win32", [expect.stringMatching(/^[A-Z]:\\.+\\System32\\rundll32\.exe$/i), "url.dll,FileProtocolHandler", page]],
])("on %s the URL is one argument of a program that is no shell", (system, expected) => {
  covers("security-no-shell-open");
  expect(toOpener(page, system)).toEqual(expected);
});

test.each([
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "file://server/share/x.exe",
  "vbscript:msgbox(1)",
  "com.example.app:/x",
  "ms-msdt:/id%20PCWDiagnostic",
  "ftp://as.example/",
  "http://as.example/authorize",
  "http://127.0.0.1.as.example/",
  // As in CVE-2025-6514.
  "a:$(cmd.exe /c whoami > c:\\temp\\pwned.txt)?response_type=code",
  "https://user:secret@as.example/",
  // Which a URL may have in its query without being written otherwise.
  "https://as.example/?`id`",
  "https://as.example/?^calc",
  "https://as.example/?\\x",
])("%s is not opened", (href) => {
  covers(["security-auth-url-schemes", "security-url-sanitised"]);
  expect(() => toOpenable(new URL(href))).toThrow(expect.objectContaining({ code: "unsafe_url" }));
});

test.each([
  ["https://as.example/authorize?a=b&calc&c=%22d%22#e", "https://as.example/authorize?a=b&calc&c=%22d%22#e"],
  ["http://localhost:3000/authorize", "http://localhost:3000/authorize"],
  ["http://[::1]:3000/a;b", "http://[::1]:3000/a;b"],
  // None of these is left to whoever reads it once more.
  ["https://as.example/$(touch x)", "https://as.example/%24%28touch%20x%29"],
  ["https://as.example/`id`", "https://as.example/%60id%60"],
  ["https://as.example/?a='b'&c=\"d\"", "https://as.example/?a=%27b%27&c=%22d%22"],
  ["https://as.example/'x' <y>\n", "https://as.example/%27x%27%20%3Cy%3E"],
  ["  https://as.example/--flag", "https://as.example/--flag"],
])("%s is opened, as one word", (given, expected) => {
  expect(toOpenable(new URL(given))).toBe(expected);
});
