import { chromium } from "playwright-core";
import { openOffice } from "../test/support/office.ts";
import { Resources } from "../test/support/resources.ts";

const resources = new Resources();
const office = await openOffice(resources, {});
const long = Array.from({ length: 60 }, (_, i) => `line ${i}: the quick brown fox`).join("\n");
await office.ask(
  "ana",
  { name: "reimburse", args: { amount: 2500, purpose: "team offsite in Lisbon", currency: "EUR" } },
  { name: "send_email", args: { to: "finance@corp.example", subject: "Reimbursed", body: long } },
);
await office.ask("ben", {
  name: "edit_file",
  args: {
    path: "config/limits.yaml",
    old_text: "limits:\n  daily: 100\n  weekly: 500\n",
    new_text: "limits:\n  daily: 1000\n  weekly: 500\n  override: true\n",
  },
});
await office.ask("ben", { name: "order", args: { item: "laptop", quantity: 40 } });
await office.ask("cleo", { name: "grant_leave", args: { employee: "cleo", days: 5 } });
await office.ask("dora", {
  name: "wire_money",
  args: { amount: 90000, to: "IBAN DE89 3704 0044 0532 0130 00" },
});
await office.ask("dora", { name: "clerk", args: { request: "file it" } });
await office.ask("ana", {
  name: "tag",
  args: { name: "‮evil", who: "pаypal.com", arabic: "مرحبا بالعالم 123" },
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({
  viewport: { width: 1280, height: 860 },
  colorScheme: process.argv[2] === "dark" ? "dark" : "light",
});
page.on("console", (m) => console.log("console", m.type(), m.text()));
page.on("pageerror", (e) => console.log("pageerror", e));
await page.goto(office.url);
await page.waitForSelector(".row-link");
await page.screenshot({ path: "/tmp/shots/list.png" });
const names = await page.$$eval(".row-link", (all) => all.map((a) => a.textContent));
console.log(names);
for (const [i, name] of [
  "reimburse",
  "edit_file",
  "order",
  "grant_leave",
  "file_report",
  "tag",
  "send_email",
].entries()) {
  await page.click(`.row-link:has-text("${name}")`).catch((e) => console.log(String(e)));
  await page.waitForTimeout(700);
  await page.screenshot({ path: `/tmp/shots/card-${name}.png` });
}

await page.goto(office.url + "#/chat");
await page.waitForSelector("text=Start a chat");
await page.click("text=New chat with office");
await page.waitForSelector(".composer textarea");
await page.fill(
  ".composer textarea",
  JSON.stringify([
    { name: "reimburse", args: { amount: 10, purpose: "x" } },
    { name: "send_email", args: { to: "a@b" } },
  ]),
);
await page.keyboard.press("Enter");
await page.waitForSelector("text=Pending approval");
await page.waitForTimeout(700);
await page.screenshot({ path: "/tmp/shots/chat1.png" });
await page.click(".tool >> nth=0 >> text=Approve");
await page.click("text=Send now");
await page.waitForTimeout(500);
await page.click(".tool >> nth=1 >> text=Reject…");
await page.keyboard.type("no thanks");
await page.screenshot({ path: "/tmp/shots/chat1b.png" });
await page.click(".tool >> nth=1 >> .button-reject");
await page.click("text=Send now");
await page.waitForTimeout(2500);
await page.fill(".composer textarea", "hello there");
await page.keyboard.press("Enter");
await page.waitForTimeout(900);
await page.screenshot({ path: "/tmp/shots/chat2.png" });
await page.fill(".composer textarea", JSON.stringify([{ name: "clerk", args: { request: "x" } }]));
await page.keyboard.press("Enter");
await page.waitForTimeout(1200);
await page.screenshot({ path: "/tmp/shots/chat3.png" });
const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
await phone.goto(office.url);
await phone.waitForSelector(".row-link");
await phone.screenshot({ path: "/tmp/shots/phone-list.png" });
await phone.click(".row-link");
await phone.waitForTimeout(600);
await phone.screenshot({ path: "/tmp/shots/phone-card.png" });
await page.goto(office.url + "#/history");
await page.waitForTimeout(400);
await page.screenshot({ path: "/tmp/shots/history.png" });
await page.goto(office.url + "#/mine");
await page.waitForTimeout(400);
await page.screenshot({ path: "/tmp/shots/mine.png" });
await browser.close();
await resources.release();
