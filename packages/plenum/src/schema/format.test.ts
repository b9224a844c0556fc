import { expect, test } from "vitest";
import { formats } from "./format.ts";

const cases: Record<string, { valid: string[]; invalid: string[] }> = {
  date: {
    valid: ["2024-02-29", "0001-01-01"],
    invalid: ["2023-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-01-01T"],
  },
  time: { valid: ["08:30:06Z", "23:59:60.123+05:30"], invalid: ["24:00:00Z", "08:30:06", "8:30:06Z", "08:30Z"] },
  "date-time": {
    valid: ["2024-02-29T23:59:59Z", "2024-01-01t00:00:00.5-01:00"],
    invalid: ["2024-02-30T00:00:00Z", "2024-01-01 00:00:00Z", "2024-01-01", "2024-01-01T00:00:00", ""],
  },
  email: {
    valid: ["a@b.c", "a.b+c@example.com"],
    invalid: ["a", "@b", "a@", ".a@b.c", "a..b@c.d", "a b@c.d", "a@-b.c"],
  },
  hostname: { valid: ["localhost", "a-b.example"], invalid: ["", "-a", "a-", "a..b", "a_b", `${"a".repeat(64)}.b`] },
  ipv4: { valid: ["0.0.0.0", "255.255.255.255"], invalid: ["256.0.0.0", "1.2.3", "01.2.3.4", "1.2.3.4.5"] },
  ipv6: {
    valid: ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "64:ff9b::1.2.3.4", "1:2:3:4:5:6:1.2.3.4"],
    invalid: [
      "",
      ":",
      "1:2:3:4:5:6:7",
      "1::2::3",
      "12345::",
      "::g",
      "1.2.3.4",
      "1.2.3.4::",
      "1:2:3:4:5:6:7:8:9",
      "::1%eth0",
      "1.2.3.4::1",
      ":1::",
    ],
  },
  uri: {
    valid: ["http://a.b/c?d#e", "urn:isbn:1", "mailto:a@b.c"],
    invalid: ["/a", "a", "http://a b", "http://a/%zz", "http:// "],
  },
  uuid: { valid: ["123e4567-e89b-12d3-a456-426614174000"], invalid: ["123e4567e89b12d3a456426614174000", "x"] },
};

test.each(Object.entries(cases))("%s", (name, { valid, invalid }) => {
  const is = formats[name] ?? (() => undefined);
  expect([...valid, ...invalid].map((text) => [text, is(text)])).toEqual([
    ...valid.map((text) => [text, true]),
    ...invalid.map((text) => [text, false]),
  ]);
});

test("every format is tested", () => expect(Object.keys(formats).sort()).toEqual(Object.keys(cases).sort()));
