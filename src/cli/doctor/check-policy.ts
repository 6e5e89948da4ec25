import { readFileSync } from "node:fs";
import { checkPolicy, type PolicySurroundings } from "../../policy/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { readChannelSettings } from "../channels/channel-settings.ts";
import { channelNames } from "../channels/create-channels.ts";
import type { Invocation } from "../command.ts";
import { policyFile } from "../policy/open-policy.ts";
import { settingOf } from "../serving/serve-options.ts";
import { type Finding, fail, ok } from "./finding.ts";

/** The policy file that `serve` would use. */
export function checkPolicyFile(invocation: Invocation): readonly Finding[] {
  const file = policyFile(invocation);
  if (file === undefined) return [];
  const advice = "`countersign policy check FILE` prints all problems; `serve` does not start with this.";
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return [fail("policy", `${file} cannot be read: ${error instanceof Error ? error.message : ""}`, advice)];
  }
  const { problems, failures, rules, tests } = checkPolicy(file, text, channelsOf(invocation));
  const [first] = [...problems, ...failures];
  if (first === undefined) return [ok("policy", `${rules} rules and ${tests} tests in ${file}`)];
  return [fail("policy", `${file}:${first.line}:${first.column}: ${first.message}`, advice)];
}

/** The channels that `serve` would use. What is wrong with their settings is another finding. */
function channelsOf(invocation: Invocation): PolicySurroundings {
  try {
    const webhook = settingOf(invocation, "webhook");
    const channels = readChannelSettings(invocation);
    return { channels: channelNames({ channels, ...(webhook === undefined ? {} : { webhook }) }) };
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    return {};
  }
}
