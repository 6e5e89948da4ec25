import { expect, onTestFinished, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { loginModeOf, setLoginMode } from "./login-mode.ts";

async function open(): Promise<Ledger> {
  const ledger = await createLedger("memory:");
  onTestFinished(() => ledger.close());
  return ledger;
}

test("a ledger that nobody served has no login, and remembers the one it was served with", async () => {
  const ledger = await open();
  expect(await loginModeOf(ledger)).toBe("none");
  await setLoginMode(ledger, "none");
  await setLoginMode(ledger, "tokens");
  await setLoginMode(ledger, "oidc");
  expect(await loginModeOf(ledger)).toBe("oidc");
});

test("a login is not removed by accident", async () => {
  const ledger = await open();
  await setLoginMode(ledger, "tokens");
  await expect(setLoginMode(ledger, "none")).rejects.toMatchObject({ code: "forbidden" });
  expect(await loginModeOf(ledger)).toBe("tokens");
  await setLoginMode(ledger, "none", { breakGlass: true });
  expect(await loginModeOf(ledger)).toBe("none");
});

test("two servers that start at once agree on one of their modes", async () => {
  const ledger = await open();
  await Promise.all([
    setLoginMode(ledger, "tokens"),
    setLoginMode(ledger, "oidc"),
    setLoginMode(ledger, "local"),
  ]);
  expect(await loginModeOf(ledger)).not.toBe("none");
});

test("a mode that cannot be read is not taken for none", async () => {
  const ledger = await open();
  await ledger.putItem({ kind: "settings", id: "auth", value: { mode: "magic" } }, 0);
  await expect(loginModeOf(ledger)).rejects.toMatchObject({ code: "internal" });
});
