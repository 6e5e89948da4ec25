import { describe, expect, test } from "vitest";
import {
  type Approvers,
  type Confirmation,
  Engine,
  ManualClock,
  oneApproval,
  type Policy,
  type Principal,
  type PrincipalInput,
  type Requirement,
  toPrincipal,
} from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import { LivePolicy, parsePolicy } from "./index.ts";

// Who must approve a call of the remote gate: by who asks, what the caller says, and what the policy says.

const LONE: Principal = toPrincipal({ id: "bot", kind: "agent", authenticated: true, scopes: ["propose"] });
const FOR_RITA: Principal = { ...LONE, onBehalfOf: "rita" };
const ANA: PrincipalInput = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] };

const CFO = { roles: ["cfo"] } as const;
const OPS = { users: ["ops"] } as const;
const OTHERS = { notRequester: true } as const;

const code =
  (terms: object): Policy =>
  () => ({ outcome: "confirm", reason: "money", ...terms });

function file(rule: string): LivePolicy {
  const text = `groups: { team: [ana, ben] }\nrules:\n  - { id: money, then: confirm${rule} }\n`;
  return new LivePolicy(parsePolicy("policy.yaml", text));
}

const MEMBERS = { users: ["ana", "ben"] } as const;
const TEAM: Requirement = { from: MEMBERS, count: 2, group: "team" };
const TEAM_RULE = ", require: [{ from: team, count: 2 }]";
const OPS_AND_REQUESTER = ', require: [{ from: "user:ops" }, { from: requester }]';

interface Row {
  readonly what: string;
  readonly policy?: Policy | LivePolicy;
  readonly approvers?: Approvers;
  readonly lone: readonly Requirement[];
  readonly forRita: readonly Requirement[];
}

const of = (...people: readonly Approvers[]): readonly Requirement[] =>
  people.flatMap((from) => oneApproval(from));

const TABLE: readonly Row[] = [
  { what: "nobody says anything", lone: of(OTHERS), forRita: of("requester") },
  { what: "the caller names the CFO", approvers: CFO, lone: of(CFO), forRita: of(CFO) },
  { what: "the caller names anybody else", approvers: OTHERS, lone: of(OTHERS), forRita: of(OTHERS) },
  { what: "code names nobody", policy: code({}), lone: of(OTHERS), forRita: of("requester") },
  { what: "code names ops", policy: code({ approvers: OPS }), lone: of(OPS), forRita: of(OPS) },
  {
    what: "code names the requester",
    policy: code({ approvers: "requester" }),
    lone: of(OTHERS),
    forRita: of("requester"),
  },
  {
    what: "code says: not the requester",
    policy: code({ notRequester: true }),
    lone: of(OTHERS),
    forRita: of(OTHERS),
  },
  {
    what: "code names ops, the caller the CFO",
    policy: code({ approvers: OPS }),
    approvers: CFO,
    lone: of(CFO, OPS),
    forRita: of(CFO, OPS),
  },
  {
    what: "code names ops, the caller anybody else",
    policy: code({ approvers: OPS }),
    approvers: OTHERS,
    lone: of(OTHERS, { ...OPS, ...OTHERS }),
    forRita: of(OTHERS, { ...OPS, ...OTHERS }),
  },
  {
    what: "code names the requester, the caller the CFO",
    policy: code({ approvers: "requester" }),
    approvers: CFO,
    lone: of({ ...CFO, ...OTHERS }, OTHERS),
    forRita: of(CFO, "requester"),
  },
  { what: "a file names nobody", policy: file(""), lone: of(OTHERS), forRita: of("requester") },
  { what: "a file names a group", policy: file(TEAM_RULE), lone: [TEAM], forRita: [TEAM] },
  {
    what: "a file names a group, not the requester",
    policy: file(`${TEAM_RULE}, notRequester: true`),
    lone: [{ ...TEAM, from: { ...MEMBERS, ...OTHERS } }],
    forRita: [{ ...TEAM, from: { ...MEMBERS, ...OTHERS } }],
  },
  {
    what: "a file names a group, the caller the CFO",
    policy: file(TEAM_RULE),
    approvers: CFO,
    lone: [...of(CFO), TEAM],
    forRita: [...of(CFO), TEAM],
  },
  {
    what: "a file names ops and the requester",
    policy: file(OPS_AND_REQUESTER),
    lone: of({ ...OPS, ...OTHERS }, OTHERS),
    forRita: of(OPS, "requester"),
  },
];

async function asked(row: Row, by: Principal) {
  const clock = new ManualClock();
  const { policy, approvers } = row;
  const engine = new Engine({
    ledger: await createLedger("memory:", { clock }),
    clock,
    ...(policy === undefined ? {} : { policy }),
  });
  const { confirmation } = await engine.callers.propose({
    by,
    app: "shop",
    tool: "pay",
    key: "k1",
    args: {},
    ...(approvers === undefined ? {} : { approvers }),
  });
  return { engine, confirmation };
}

function required(confirmation: Confirmation | undefined): readonly Requirement[] {
  return (confirmation?.requirements ?? []).map(({ approved: _approved, ...one }) => one);
}

describe("who must approve what an agent asks for", () => {
  test.each(TABLE)("on nobody's behalf: $what", async (row) => {
    const { engine, confirmation } = await asked(row, LONE);
    expect(required(confirmation)).toEqual(row.lone);
    await engine.close();
  });

  test.each(TABLE)("for a person: $what", async (row) => {
    const { engine, confirmation } = await asked(row, FOR_RITA);
    expect(required(confirmation)).toEqual(row.forRita);
    await engine.close();
  });

  test("on nobody's behalf: whom a policy names is enough, and nobody else is", async () => {
    const policy = file(', require: [{ from: "user:ana" }]');
    const { engine, confirmation } = await asked({ what: "", policy, lone: [], forRita: [] }, LONE);
    const id = confirmation?.id ?? "";
    await expect(engine.approve(id, { by: { ...ANA, id: "zoe" } })).rejects.toMatchObject({
      code: "not-an-approver",
    });
    expect(await engine.approve(id, { by: ANA })).toMatchObject({ confirmation: { status: "approved" } });
    await engine.close();
  });
});
