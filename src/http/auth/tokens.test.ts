import { expect, onTestFinished, test } from "vitest";
import { type Ledger, ManualClock } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { type NewToken, Tokens } from "./tokens.ts";

const ANA: NewToken = { user: "ana", roles: ["finance"], scopes: ["run", "decide"], createdBy: "local:root" };
const DAY_MS = 86_400_000;

async function open(): Promise<{
  readonly tokens: Tokens;
  readonly clock: ManualClock;
  readonly ledger: Ledger;
}> {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  onTestFinished(() => ledger.close());
  return { tokens: new Tokens(ledger.items, () => clock.now()), clock, ledger };
}

test("a token is its user, with its roles and scopes and no others", async () => {
  const { tokens } = await open();
  const { token, secret } = await tokens.create(ANA);
  expect(secret).toMatch(/^cst_[0-9a-f]{16}_[\w-]{43}$/);
  expect(await tokens.read(secret)).toEqual({
    principal: {
      id: "ana",
      kind: "token",
      roles: ["finance"],
      scopes: ["run", "decide"],
      authenticated: true,
    },
    token: token.id,
  });
});

test("the secret is nowhere on the ledger", async () => {
  const { tokens, ledger } = await open();
  const { token, secret } = await tokens.create(ANA);
  const kept = JSON.stringify((await ledger.items.list("token")).items);
  expect(kept).toContain(token.id);
  expect(kept).not.toContain(secret.slice(-43));
  expect(JSON.stringify((await tokens.list()).items)).not.toContain("hash");
});

test("a wrong secret, another token's, and anything else log nobody in", async () => {
  const { tokens } = await open();
  const [one, two] = [await tokens.create(ANA), await tokens.create({ ...ANA, user: "bob" })];
  const crossed = `cst_${one.token.id}_${two.secret.slice(-43)}`;
  const altered = `${one.secret.slice(0, -1)}${one.secret.endsWith("A") ? "E" : "A"}`;
  for (const credential of [crossed, altered, one.secret.slice(4), `${one.secret}=`, "cst_", "", "a.b.c"])
    expect(await tokens.read(credential), credential).toBeUndefined();
});

test("a token ends when it expires, and when it is revoked", async () => {
  const { tokens, clock } = await open();
  const brief = await tokens.create({ ...ANA, expiresAt: clock.now() + DAY_MS });
  const long = await tokens.create(ANA);
  expect(await tokens.revoke(long.token.id, "local:root")).toMatchObject({ revokedBy: "local:root" });
  expect(await tokens.read(long.secret)).toBeUndefined();
  expect(await tokens.holder(long.token.id)).toBeUndefined();
  expect(await tokens.read(brief.secret)).toBeDefined();
  await clock.advance(DAY_MS);
  expect(await tokens.read(brief.secret)).toBeUndefined();
});

test("revoking again changes nothing, and what is not there is said not to be", async () => {
  const { tokens, clock } = await open();
  const { token } = await tokens.create(ANA);
  const first = await tokens.revoke(token.id, "local:root");
  await clock.advance(1_000);
  expect(await tokens.revoke(token.id, "local:eve")).toEqual(first);
  expect(await tokens.revoke("0123456789abcdef", "local:eve")).toBeUndefined();
});

test("the day of the last use is on record, and costs one write a day", async () => {
  const { tokens, clock, ledger } = await open();
  const { token, secret } = await tokens.create(ANA);
  const versionNow = async (): Promise<number | undefined> =>
    (await ledger.items.get("token", token.id))?.version;
  for (let uses = 0; uses < 5; uses += 1) await tokens.read(secret);
  expect(await versionNow()).toBe(2);
  expect((await tokens.list()).items).toMatchObject([{ lastUsedDay: clock.now() }]);
  await clock.advance(DAY_MS);
  await tokens.read(secret);
  expect(await versionNow()).toBe(3);
});

test("a use and a revocation at the same moment leave it revoked", async () => {
  const { tokens } = await open();
  const { token, secret } = await tokens.create(ANA);
  await Promise.all([tokens.read(secret), tokens.revoke(token.id, "local:root"), tokens.read(secret)]);
  expect(await tokens.read(secret)).toBeUndefined();
});

test.each(["", "local", "local:root", "provider:clerk", "an\u200ba", "x".repeat(300)])(
  'nobody gets a token as "%s"',
  async (user) => {
    const { tokens } = await open();
    await expect(tokens.create({ ...ANA, user })).rejects.toMatchObject({ code: "invalid-option" });
  },
);
