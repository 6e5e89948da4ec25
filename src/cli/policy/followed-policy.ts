import type { EngineOptions, Ledger } from "../../engine/index.ts";
import type { Invocation } from "../command.ts";
import { inert, type Output } from "../output.ts";
import { openPolicy, policyFile } from "./open-policy.ts";

/** The policy of a command, and what happens to its file as lines of text. */
export interface CommandPolicy {
  readonly option: Pick<EngineOptions, "policy">;
  follow(ledger: Ledger, output: Output): void;
  stop(): void;
}

/** The policy that the flag or the environment names, if any. */
export function followedPolicy(invocation: Invocation): CommandPolicy | undefined {
  const file = policyFile(invocation);
  if (file === undefined) return undefined;
  const followed = openPolicy(file);
  return {
    option: { policy: followed.policy },
    follow: (ledger, output) =>
      followed.follow(ledger, {
        replaced: (name) => output.line(`countersign: the policy ${inert(name)} was reloaded`),
        broken: (_, message) =>
          output.line(`countersign: the previous policy stays in force: ${inert(message)}`),
      }),
    stop: () => followed.stop(),
  };
}
