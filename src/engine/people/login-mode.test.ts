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
  expect(await loginModeOf(ledger.items)).toBe("none");
  await setLoginMode(ledger.items, "none");
  await setLoginMode(ledger.items, "tokens");
  await setLoginMode(ledger.items, "oidc");
  expect(await loginModeOf(ledger.items)).toBe("oidc");
});

test("a login is not removed by accident", async () => {
  const ledger = await open();
  await setLoginMode(ledger.items, "tokens");
  await expect(setLoginMode(ledger.items, "none")).rejects.toMatchObject({ code: "forbidden" });
  expect(await loginModeOf(ledger.items)).toBe("tokens");
  await setLoginMode(ledger.items, "none", { breakGlass: true });
  expect(await loginModeOf(ledger.items)).toBe("none");
});

test("two servers that start at once agree on one of their modes", async () => {
  const ledger = await open();
  await Promise.all([
    setLoginMode(ledger.items, "tokens"),
    setLoginMode(ledger.items, "oidc"),
    setLoginMode(ledger.items, "local"),
  ]);
  expect(await loginModeOf(ledger.items)).not.toBe("none");
});

test("a mode that cannot be read is not taken for none", async () => {
  const ledger = await open();
  await ledger.items.put({ kind: "settings", id: "auth", value: { mode: "magic" } }, 0);
  await expect(loginModeOf(ledger.items)).rejects.toMatchObject({ code: "internal" });
});

test("the login of a host program is stored, and replaces none of our own", async () => {
  const ledger = await open();
  await setLoginMode(ledger.items, "host");
  expect(await loginModeOf(ledger.items)).toBe("host");
  await expect(setLoginMode(ledger.items, "none")).rejects.toThrow(
    "the login of the application that serves it",
  );
  await setLoginMode(ledger.items, "tokens");
  await setLoginMode(ledger.items, "host");
  expect(await loginModeOf(ledger.items)).toBe("tokens");
});
