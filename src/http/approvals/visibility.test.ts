import { expect, onTestFinished, test } from "vitest";
import { person } from "../../../test/attack/support/engine-fixture.ts";
import type { Directory } from "../../engine/index.ts";
import { createEngine } from "../../index.ts";
import { list } from "./list.ts";
import { maySee } from "./visibility.ts";

const rule = {
  requirements: [{ from: { users: ["ana", "bob"], notRequester: true }, count: 1 }],
  requesters: ["rita"],
};
const since = { id: "d", since: 0, until: 1, version: 1 };

test("a delegation shows a question to the delegate, and hides it from nobody whom the rule names", () => {
  expect(maySee(rule, person("leo"))).toBe(false);
  expect(maySee(rule, person("leo"), { delegations: [{ ...since, from: "ana", to: "leo" }] })).toBe(true);
  for (const [from, to] of [
    ["rita", "bob"],
    ["bob", "rita"],
  ] as const)
    expect(maySee(rule, person("bob"), { delegations: [{ ...since, from, to }] }), from).toBe(true);
});

const RITAS = ["rita", "rita@sso"];
const ONE_PERSON: Directory = {
  group: () => undefined,
  person: (id) => (RITAS.includes(id) ? "rita" : id),
  logins: (id) => (RITAS.includes(id) ? RITAS : [id]),
};

test("two logins are one person only in apps whose policy says so", async () => {
  const engine = await createEngine({ ledger: "memory:" });
  onTestFinished(() => engine.close());
  for (const tool of ["known", "other"]) {
    const gate = engine.gate(tool, { requireConfirmation: true }, async () => "done");
    await gate({}, { key: tool, by: person("rita") });
  }
  const counting = await engine.counting();
  const known = { ...counting, directory: ONE_PERSON };
  const site = {
    ledger: async () => engine.ledger,
    counting: async (app?: string) => (app === "gate:known" ? known : counting),
    countings: async () => [counting, known],
  };
  const seenBy = async (id: string, mine: "true" | "decidable" | undefined): Promise<readonly string[]> => {
    const { items } = await list({ site, principal: person(id) }, mine === undefined ? {} : { mine });
    return items.map(({ tool }) => tool).toSorted();
  };
  for (const mine of ["true", "decidable", undefined] as const) {
    expect(await seenBy("rita", mine)).toEqual(["known", "other"]);
    expect(await seenBy("rita@sso", mine)).toEqual(["known"]);
    expect(await seenBy("eve", mine)).toEqual([]);
  }
});
