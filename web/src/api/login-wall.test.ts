import { expect, test } from "vitest";
import { admitLogin, loggedIn, loginCount, loginWall } from "./login-wall.ts";

test("whoever was refused waits until somebody logs in", async () => {
  const waiting = loggedIn(loginCount());
  expect(loginWall.value).toBe(true);
  admitLogin();
  await waiting;
  expect(loginWall.value).toBe(false);
});

test("a request of before the login that is refused after it is simply sent again", async () => {
  const sentAt = loginCount();
  const waiting = loggedIn(sentAt);
  admitLogin();
  await waiting;
  await loggedIn(sentAt);
  expect(loginWall.value).toBe(false);
});
