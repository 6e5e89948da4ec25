import { expect, test } from "vitest";
import { proposalBodySchema } from "./caller-calls.ts";

const CALL = { key: "k1", app: "shop", tool: "pay", args: {} };
const many = (length: number, start = ""): string[] => Array.from({ length }, (_, at) => `${start}${at}`);

test.each([
  ["secrets", { secrets: many(100, "/") }, { secrets: many(101, "/") }],
  ["users", { approvers: { users: many(1_000) } }, { approvers: { users: many(1_001) } }],
  ["roles", { approvers: { roles: many(1_000) } }, { approvers: { roles: many(1_001) } }],
  ["names of arguments", { amendable: many(1_000) }, { amendable: many(1_001) }],
])("a proposal has so many %s and no more", (_, some, tooMany) => {
  expect(proposalBodySchema.safeParse({ ...CALL, ...some }).success).toBe(true);
  expect(proposalBodySchema.safeParse({ ...CALL, ...tooMany }).success).toBe(false);
});
