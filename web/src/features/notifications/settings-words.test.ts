import { expect, test } from "vitest";
import { channelName, toSettings, toTyped } from "./settings-words.ts";

const BERLIN = "Europe/Berlin";

test("settings are the same after they were shown", () => {
  const quiet = { timeZone: "Asia/Tokyo", from: "21:30", to: "06:00" };
  const daily = { timeZone: "Asia/Tokyo", at: "08:15" };
  for (const settings of [
    { off: [] },
    { off: ["email"], quiet },
    { off: ["push", "slack"], daily },
    { off: [], quiet, daily },
  ])
    expect(toSettings(toTyped(settings, BERLIN))).toEqual(settings);
});

test("times that are not set are usual ones, here", () => {
  expect(toTyped({ off: [] }, BERLIN)).toMatchObject({ hasQuiet: false, from: "22:00", timeZone: BERLIN });
});

test("a channel that has no other name is called as it is", () => {
  expect(["email", "pager"].map(channelName)).toEqual(["E-mail", "pager"]);
});
