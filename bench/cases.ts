// All cases, in the order of the table. A new one is a file in cases/ and a line here.
import type { Case } from "./case.ts";
import { bundle } from "./cases/bundle.ts";
import { calls } from "./cases/calls.ts";
import { client } from "./cases/client.ts";
import { cold } from "./cases/cold.ts";
import { elicit } from "./cases/elicit.ts";
import { footprint } from "./cases/footprint.ts";
import { http } from "./cases/http.ts";
import { inproc } from "./cases/inproc.ts";
import { large } from "./cases/large.ts";
import { list } from "./cases/list.ts";
import { profile } from "./cases/profile.ts";
import { progress } from "./cases/progress.ts";
import { resume } from "./cases/resume.ts";
import { sessions } from "./cases/sessions.ts";
import { soak } from "./cases/soak.ts";
import { start } from "./cases/start.ts";
import { stdio } from "./cases/stdio.ts";
import { types } from "./cases/types.ts";

export const cases: readonly Case[] = [
  stdio,
  http,
  sessions,
  cold,
  start,
  large,
  progress,
  list,
  calls,
  client,
  inproc,
  elicit,
  resume,
  soak,
  footprint,
  bundle,
  types,
  profile,
];
