import { expect, test } from "vitest";
import { createEmailChannel } from "../../src/channels/email/index.ts";
import { createInbound } from "../../src/channels/index.ts";
import { notificationSettings } from "../../src/engine/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { openInbox } from "../support/browser/inbox-page.ts";
import { startInboxServer } from "../support/browser/inbox-server.ts";
import { lookAt } from "../support/browser/look.ts";
import { MailServer } from "../support/mail/mail-server.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const newPage = useBrowser();
const KEPT = { "notifications-desktop-light": "notifications.png" };

test("somebody turns a channel off, sets quiet hours and a daily time, and gets a test message", async () => {
  const mails = await new MailServer().listen();
  resources.add(() => mails.close());
  const people = [{ id: "ana", email: "ana@example.com" }];
  const server = await startInboxServer(resources, {
    mode: "tokens",
    mounts: (engine) => {
      const { ledger } = engine;
      const from = "approvals@example.com";
      return [createInbound(engine, [createEmailChannel({ ledger, smtp: mails.url, from, people })])];
    },
  });
  const { page, button } = await openInbox(resources, {
    newPage,
    url: server.url,
    path: "#/notifications",
    timezoneId: "Europe/Berlin",
    mayComplain: /401|422|429/,
  });
  await page.getByLabel(/^Token/).fill(await server.tokenFor("ana"));
  await button("Log in").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const mail = page.getByRole("checkbox", { name: "E-mail" });
  expect(await mail.isChecked()).toBe(true);
  await button("Send a test message by E-mail").click();
  await page.getByText("Sent. It can take a moment to arrive.").waitFor();
  expect(mails.received.map(({ to }) => to)).toEqual([["ana@example.com"]]);
  await button("Send a test message by E-mail").click();
  await page.getByText("A test message was sent a moment ago").waitFor();

  await mail.uncheck();
  await page.getByRole("checkbox", { name: /^Quiet hours/ }).check();
  await page.getByLabel("Quiet from").fill("21:30");
  await page.getByRole("checkbox", { name: /^Once a day/ }).check();
  await page.getByLabel("Time zone").fill("Berlin");
  await button("Save").click();
  await page.getByText("no time zone").waitFor();
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  expect(await lookAt(page, { state: "notifications", kept: KEPT })).toEqual([]);
  await button("Save").click();
  await page.getByText("Saved.").waitFor();
  expect(await notificationSettings(server.engine.ledger.items, "ana")).toEqual({
    off: ["email"],
    quiet: { timeZone: "Europe/Berlin", from: "21:30", to: "07:00" },
    daily: { timeZone: "Europe/Berlin", at: "09:00" },
  });

  await page.reload();
  await page.getByLabel("Quiet from").waitFor();
  expect(await mail.isChecked()).toBe(false);
  expect(await page.getByLabel("Quiet from").inputValue()).toBe("21:30");
});
