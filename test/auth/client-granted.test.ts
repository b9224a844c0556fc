// What a client was granted, for people to see.
import { oauth } from "plenum/auth/client";
import { createMemoryStore } from "plenum/store";
import { expect, test } from "vitest";
import { follow, logIn, openStage } from "./stage.ts";

test("who granted what, and nothing of the tokens, until it is forgotten", async () => {
  const stage = await openStage();
  stage.scopes = ["notes:read"];
  const store = createMemoryStore();
  const auth = oauth({ store, redirect: follow() });
  expect(await auth.granted(stage.url)).toBeUndefined();
  await logIn(stage, { auth });
  // Another process finds it in the store, and so does who names the server with its query.
  const granted = await oauth({ store }).granted(new URL(`${stage.url}?tenant=1`));
  expect(granted).toMatchObject({ issuer: stage.authority.issuer, scopes: ["notes:read"], isRenewable: true });
  for (const token of stage.authority.tokens.keys()) expect(JSON.stringify(granted)).not.toContain(token);
  await auth.forget(stage.url);
  expect(await auth.granted(stage.url)).toBeUndefined();
});
