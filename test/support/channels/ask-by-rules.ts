import type { PolicyVerdict } from "../../../src/index.ts";

/** Rules that ask as many managers as `count` says, who may decide by mail. */
export interface AskByRules {
  count: number;
  readonly policy: () => PolicyVerdict;
}

export function askByRules(): AskByRules {
  const rules: AskByRules = {
    count: 1,
    policy: () => ({
      outcome: "confirm",
      reason: "payments",
      requirements: [{ from: { roles: ["manager"] }, count: rules.count }],
      byMail: true,
    }),
  };
  return rules;
}
