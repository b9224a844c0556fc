// Every example of RFC 6570 §1.2 and §3.2, as data.
import { describe, expect, test } from "vitest";
import { parseUriTemplate } from "./uri-template.ts";
import { expandUriTemplate, listTemplateVariables, type TemplateValues } from "./uri-template-expand.ts";

const levels: TemplateValues = {
  var: "value",
  hello: "Hello World!",
  empty: "",
  path: "/foo/bar",
  x: "1024",
  y: "768",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
};

// §3.2
const sections: TemplateValues = {
  ...levels,
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  half: "50%",
  who: "fred",
  base: "http://example.com/home/",
  v: "6",
  empty_keys: {},
  undef: undefined,
};

type Rows = readonly (readonly [template: string, expansion: string])[];

const level1to4: Rows = [
  ["{var}", "value"],
  ["{hello}", "Hello%20World%21"],
  ["{+var}", "value"],
  ["{+hello}", "Hello%20World!"],
  ["{+path}/here", "/foo/bar/here"],
  ["here?ref={+path}", "here?ref=/foo/bar"],
  ["X{#var}", "X#value"],
  ["X{#hello}", "X#Hello%20World!"],
  ["map?{x,y}", "map?1024,768"],
  ["{x,hello,y}", "1024,Hello%20World%21,768"],
  ["{+x,hello,y}", "1024,Hello%20World!,768"],
  ["{+path,x}/here", "/foo/bar,1024/here"],
  ["{#x,hello,y}", "#1024,Hello%20World!,768"],
  ["{#path,x}/here", "#/foo/bar,1024/here"],
  ["X{.var}", "X.value"],
  ["X{.x,y}", "X.1024.768"],
  ["{/var}", "/value"],
  ["{/var,x}/here", "/value/1024/here"],
  ["{;x,y}", ";x=1024;y=768"],
  ["{;x,y,empty}", ";x=1024;y=768;empty"],
  ["{?x,y}", "?x=1024&y=768"],
  ["{?x,y,empty}", "?x=1024&y=768&empty="],
  ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ["{&x,y,empty}", "&x=1024&y=768&empty="],
  ["{var:3}", "val"],
  ["{var:30}", "value"],
  ["{list}", "red,green,blue"],
  ["{list*}", "red,green,blue"],
  ["{keys}", "semi,%3B,dot,.,comma,%2C"],
  ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
  ["{+path:6}/here", "/foo/b/here"],
  ["{+list}", "red,green,blue"],
  ["{+list*}", "red,green,blue"],
  ["{+keys}", "semi,;,dot,.,comma,,"],
  ["{+keys*}", "semi=;,dot=.,comma=,"],
  ["{#path:6}/here", "#/foo/b/here"],
  ["{#list}", "#red,green,blue"],
  ["{#list*}", "#red,green,blue"],
  ["{#keys}", "#semi,;,dot,.,comma,,"],
  ["{#keys*}", "#semi=;,dot=.,comma=,"],
  ["X{.var:3}", "X.val"],
  ["X{.list}", "X.red,green,blue"],
  ["X{.list*}", "X.red.green.blue"],
  ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
  ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
  ["{/var:1,var}", "/v/value"],
  ["{/list}", "/red,green,blue"],
  ["{/list*}", "/red/green/blue"],
  ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
  ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
  ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
  ["{;hello:5}", ";hello=Hello"],
  ["{;list}", ";list=red,green,blue"],
  ["{;list*}", ";list=red;list=green;list=blue"],
  ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
  ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
  ["{?var:3}", "?var=val"],
  ["{?list}", "?list=red,green,blue"],
  ["{?list*}", "?list=red&list=green&list=blue"],
  ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
  ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  ["{&var:3}", "&var=val"],
  ["{&list}", "&list=red,green,blue"],
  ["{&list*}", "&list=red&list=green&list=blue"],
  ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
  ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
];

const section3: Rows = [
  // 3.2.1
  ["{count}", "one,two,three"],
  ["{count*}", "one,two,three"],
  ["{/count}", "/one,two,three"],
  ["{/count*}", "/one/two/three"],
  ["{;count}", ";count=one,two,three"],
  ["{;count*}", ";count=one;count=two;count=three"],
  ["{?count}", "?count=one,two,three"],
  ["{?count*}", "?count=one&count=two&count=three"],
  ["{&count*}", "&count=one&count=two&count=three"],
  // 3.2.2
  ["{var}", "value"],
  ["{hello}", "Hello%20World%21"],
  ["{half}", "50%25"],
  ["O{empty}X", "OX"],
  ["O{undef}X", "OX"],
  ["{x,y}", "1024,768"],
  ["{x,hello,y}", "1024,Hello%20World%21,768"],
  ["?{x,empty}", "?1024,"],
  ["?{x,undef}", "?1024"],
  ["?{undef,y}", "?768"],
  ["{var:3}", "val"],
  ["{var:30}", "value"],
  ["{list}", "red,green,blue"],
  ["{list*}", "red,green,blue"],
  ["{keys}", "semi,%3B,dot,.,comma,%2C"],
  ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
  // 3.2.3
  ["{+var}", "value"],
  ["{+hello}", "Hello%20World!"],
  ["{+half}", "50%25"],
  ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
  ["{+base}index", "http://example.com/home/index"],
  ["O{+empty}X", "OX"],
  ["O{+undef}X", "OX"],
  ["{+path}/here", "/foo/bar/here"],
  ["here?ref={+path}", "here?ref=/foo/bar"],
  ["up{+path}{var}/here", "up/foo/barvalue/here"],
  ["{+x,hello,y}", "1024,Hello%20World!,768"],
  ["{+path,x}/here", "/foo/bar,1024/here"],
  ["{+path:6}/here", "/foo/b/here"],
  ["{+list}", "red,green,blue"],
  ["{+list*}", "red,green,blue"],
  ["{+keys}", "semi,;,dot,.,comma,,"],
  ["{+keys*}", "semi=;,dot=.,comma=,"],
  // 3.2.4
  ["{#var}", "#value"],
  ["{#hello}", "#Hello%20World!"],
  ["{#half}", "#50%25"],
  ["foo{#empty}", "foo#"],
  ["foo{#undef}", "foo"],
  ["{#x,hello,y}", "#1024,Hello%20World!,768"],
  ["{#path,x}/here", "#/foo/bar,1024/here"],
  ["{#path:6}/here", "#/foo/b/here"],
  ["{#list}", "#red,green,blue"],
  ["{#list*}", "#red,green,blue"],
  ["{#keys}", "#semi,;,dot,.,comma,,"],
  ["{#keys*}", "#semi=;,dot=.,comma=,"],
  // 3.2.5
  ["{.who}", ".fred"],
  ["{.who,who}", ".fred.fred"],
  ["{.half,who}", ".50%25.fred"],
  ["www{.dom*}", "www.example.com"],
  ["X{.var}", "X.value"],
  ["X{.empty}", "X."],
  ["X{.undef}", "X"],
  ["X{.var:3}", "X.val"],
  ["X{.list}", "X.red,green,blue"],
  ["X{.list*}", "X.red.green.blue"],
  ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
  ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
  ["X{.empty_keys}", "X"],
  ["X{.empty_keys*}", "X"],
  // 3.2.6
  ["{/who}", "/fred"],
  ["{/who,who}", "/fred/fred"],
  ["{/half,who}", "/50%25/fred"],
  ["{/who,dub}", "/fred/me%2Ftoo"],
  ["{/var}", "/value"],
  ["{/var,empty}", "/value/"],
  ["{/var,undef}", "/value"],
  ["{/var,x}/here", "/value/1024/here"],
  ["{/var:1,var}", "/v/value"],
  ["{/list}", "/red,green,blue"],
  ["{/list*}", "/red/green/blue"],
  ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
  ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
  ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
  // 3.2.7
  ["{;who}", ";who=fred"],
  ["{;half}", ";half=50%25"],
  ["{;empty}", ";empty"],
  ["{;v,empty,who}", ";v=6;empty;who=fred"],
  ["{;v,bar,who}", ";v=6;who=fred"],
  ["{;x,y}", ";x=1024;y=768"],
  ["{;x,y,empty}", ";x=1024;y=768;empty"],
  ["{;x,y,undef}", ";x=1024;y=768"],
  ["{;hello:5}", ";hello=Hello"],
  ["{;list}", ";list=red,green,blue"],
  ["{;list*}", ";list=red;list=green;list=blue"],
  ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
  ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
  // 3.2.8
  ["{?who}", "?who=fred"],
  ["{?half}", "?half=50%25"],
  ["{?x,y}", "?x=1024&y=768"],
  ["{?x,y,empty}", "?x=1024&y=768&empty="],
  ["{?x,y,undef}", "?x=1024&y=768"],
  ["{?var:3}", "?var=val"],
  ["{?list}", "?list=red,green,blue"],
  ["{?list*}", "?list=red&list=green&list=blue"],
  ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
  ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  // 3.2.9
  ["{&who}", "&who=fred"],
  ["{&half}", "&half=50%25"],
  ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ["{&x,y,empty}", "&x=1024&y=768&empty="],
  ["{&x,y,undef}", "&x=1024&y=768"],
  ["{&var:3}", "&var=val"],
  ["{&list}", "&list=red,green,blue"],
  ["{&list*}", "&list=red&list=green&list=blue"],
  ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
  ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
];

describe("RFC 6570 §1.2", () => {
  test.each(level1to4)("%s → %s", (template, expansion) => {
    expect(expandUriTemplate(template, levels)).toBe(expansion);
  });
});

describe("RFC 6570 §3.2", () => {
  test.each(section3)("%s → %s", (template, expansion) => {
    expect(expandUriTemplate(parseUriTemplate(template), sections)).toBe(expansion);
  });
});

describe("beyond the examples", () => {
  test("numbers, empty lists and empty elements", () => {
    expect(expandUriTemplate("{n}{?m}", { n: 0, m: -1.5 })).toBe("0?m=-1.5");
    expect(expandUriTemplate("a{/list*}{?list*}{&list}", { list: [] })).toBe("a");
    expect(expandUriTemplate("{/list*}{?list*}{;list*}", { list: ["", "b"] })).toBe("//b?list=&list=b;list;list=b");
    expect(expandUriTemplate("{?keys*}{;keys*}", { keys: { a: "" } })).toBe("?a=;a");
  });

  test("literals outside ASCII and triplets", () => {
    expect(expandUriTemplate("é%2f[]'{+x}", { x: "%2f%zz[é]" })).toBe("%C3%A9%2f[]'%2f%25zz[%C3%A9]");
  });

  test("all that is not unreserved is encoded, but for reserved expansion", () => {
    expect(expandUriTemplate("{x}", { x: "!'()*" })).toBe("%21%27%28%29%2A");
    expect(expandUriTemplate("{+x}", { x: ":/?#[]@!$&'()*+,;=" })).toBe(":/?#[]@!$&'()*+,;=");
    expect(expandUriTemplate("{x}", { x: "-._~" })).toBe("-._~");
  });

  test("a prefix counts code points", () => {
    expect(expandUriTemplate("{x:2}", { x: "a😀b" })).toBe("a%F0%9F%98%80");
  });

  test("what every object inherits is no value", () => {
    expect(expandUriTemplate("{constructor}{__proto__}{toString}", {})).toBe("");
    expect(expandUriTemplate("{x}", Object.create({ x: "inherited" }))).toBe("");
    expect(expandUriTemplate("{__proto__}", { ["__proto__"]: "own" })).toBe("own");
  });

  test("what cannot be expressed is a TypeError", () => {
    expect(() => expandUriTemplate("{list:3}", { list: ["a"] })).toThrow(/{list:3} is for text/);
    expect(() => expandUriTemplate("{list:3}", { list: ["a"] })).toThrow(TypeError);
    expect(() => expandUriTemplate("{x", {})).toThrow(TypeError);
    expect(() => expandUriTemplate("{x}", { x: "\ud800" })).toThrow(TypeError);
    expect(() => expandUriTemplate("{+x}", { x: "\ud800" })).toThrow(/half a surrogate pair/);
  });
});

test("variables are listed once each, with which may be left out and which are lists", () => {
  const variable = (name: string, isOptional = false, isList = false) => ({ name, isOptional, isList });
  expect(listTemplateVariables("a:/{b}/{+c}{?d,e*}{&b}{/f*}{g:3}")).toEqual([
    variable("b"),
    variable("c"),
    variable("d", true),
    variable("e", true, true),
    variable("f", true, true),
    variable("g"),
  ]);
  expect(listTemplateVariables("a:b")).toEqual([]);
  expect(() => listTemplateVariables("{")).toThrow(TypeError);
});
