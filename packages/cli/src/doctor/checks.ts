// The table of all checks, in the order in which they are run and reported.
import type { Check } from "./check.ts";
import { callsChecks } from "./checks/calls.ts";
import { capabilitiesChecks } from "./checks/capabilities.ts";
import { connectsChecks } from "./checks/connects.ts";
import { costChecks } from "./checks/cost.ts";
import { errorsChecks } from "./checks/errors.ts";
import { httpProtocolChecks } from "./checks/http-protocol.ts";
import { httpSafetyChecks } from "./checks/http-safety.ts";
import { messagesChecks } from "./checks/messages.ts";
import { promptsChecks } from "./checks/prompts.ts";
import { resourcesChecks } from "./checks/resources.ts";
import { schemasChecks } from "./checks/schemas.ts";
import { stdioChecks } from "./checks/stdio.ts";
import { toolsChecks } from "./checks/tools.ts";

export const checks: readonly Check[] = [
  ...connectsChecks,
  ...capabilitiesChecks,
  ...errorsChecks,
  ...toolsChecks,
  ...schemasChecks,
  ...costChecks,
  ...callsChecks,
  ...resourcesChecks,
  ...promptsChecks,
  ...httpSafetyChecks,
  ...httpProtocolChecks,
  ...stdioChecks,
  // Last: they look at all that was sent meanwhile.
  ...messagesChecks,
];
