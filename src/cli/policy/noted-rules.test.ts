import { expect, test } from "vitest";
import { Engine } from "../../engine/index.ts";
import { createLedger } from "../../index.ts";
import { parsePolicy } from "../../policy/index.ts";
import { notedRules } from "./noted-rules.ts";

const ana = { id: "ana", scopes: ["decide"], authenticated: true, kind: "token" } as const;
const POLICY = `
rules:
  - { id: any, match: { tool: pay }, when: args.amount > 0.0, then: confirm }
  - { id: big, match: { tool: pay }, when: args.amount > 100.0, then: confirm }
`;

function applied(rule: string, amount: number): object {
  return { rule, outcome: "confirm", facts: { "args.amount": amount } };
}

test("of a question, and of arguments that its approver changed, the rules that applied last are told", async () => {
  const ledger = await createLedger("memory:");
  const policy = parsePolicy("policy.yaml", POLICY);
  const engine = new Engine({ ledger, policy });
  const pay = engine.gate("pay", { amendable: true }, async () => "paid");
  const plain = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
  const asked = await pay({ amount: 200 }, { key: "k", by: ana });
  const other = await plain({}, { key: "w", by: ana });
  if (asked.status !== "pending" || other.status !== "pending") throw new Error("nobody was asked");
  const told = async (id: string) => {
    const { confirmation } = (await ledger.load({ confirmation: id })) ?? {};
    if (confirmation === undefined) throw new Error("it is not there");
    return notedRules(ledger, confirmation);
  };
  expect(await told(asked.confirmation.id)).toEqual([
    { version: policy.version, rules: [applied("any", 200), applied("big", 200)] },
  ]);
  expect(await told(other.confirmation.id)).toEqual([]);
  await engine.approve(asked.confirmation.id, { by: ana, args: { amount: 5 } });
  expect(await told(asked.confirmation.id)).toEqual([
    { version: policy.version, rules: [applied("any", 5)] },
  ]);
  await engine.close();
});
