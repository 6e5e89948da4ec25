import type { EngineOptions } from "../../engine/index.ts";
import type { Flags, Invocation } from "../command.ts";
import { inert } from "../output.ts";
import { openPolicy, policyFile } from "./open-policy.ts";

/** For commands about a person. */
export const PEOPLE_FLAG: Flags = {
  policy: {
    type: "string",
    value: "FILE",
    help: "the policy file, whose `people` say which ids are one person (COUNTERSIGN_POLICY)",
  },
};

/** The policy that the flag or the environment names, as it is now. */
export function knownPeople(invocation: Invocation): Pick<EngineOptions, "policy"> {
  const file = policyFile(invocation);
  return file === undefined ? {} : { policy: openPolicy(file).policy };
}

/** Which ids of a person a command was about, in one sentence. */
export function toldLogins(user: string, logins: readonly string[], invocation: Invocation): string {
  const others = logins.filter((login) => login !== user).map(inert);
  if (others.length > 0)
    return `${inert(user)} is the same person as ${others.join(", ")}: all were covered.`;
  const why = policyFile(invocation) === undefined ? "without --policy FILE" : "in the policy";
  return `Only the id ${inert(user)} was covered: no other id of this person is known ${why}.`;
}
