// Five requests to the demo's agent, some of which do not do what was asked for, and a picture of each as somebody first sees it:
// node scripts/stranger.ts FOLDER. Look at the pictures, write down what you would decide, then read facts.json.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rootAgent } from "../examples/agents/office_assistant/agent.ts";
import { createApp } from "../src/http/index.ts";
import { serve } from "../src/http/node/index.ts";
import { Agent, type JsonObject, Runner } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";
import { launchBrowser } from "../test/support/browser/browser.ts";
import { ensureWebBuilt } from "./build-web.ts";

interface Request {
  readonly user: string;
  readonly words: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** What is wrong with it; nothing if it does what was asked for. */
  readonly wrong?: string;
}

const pick = <T>(...choices: readonly [T, ...T[]]): T =>
  choices[Math.floor(Math.random() * choices.length)] ?? choices[0];
const isWrong = (): boolean => Math.random() < 0.5;
const person = (): string => pick("ana", "ben", "cleo", "dora", "emil");

function reimbursement(): Request {
  const asked = pick(84, 120, 315, 640);
  const purpose = pick("a train to Porto", "the team lunch", "two keyboards");
  const wrong = isWrong() ? { wrong: "ten times what was asked for" } : {};
  const amount = "wrong" in wrong ? asked * 10 : asked;
  const args = { amount, currency: "EUR", purpose };
  return {
    user: person(),
    words: `Reimburse ${asked} EUR for ${purpose}`,
    tool: "reimburse",
    args,
    ...wrong,
  };
}

function timeOff(): Request {
  const asked = pick(2, 3, 5);
  const wrong = isWrong() ? { wrong: "more days than were asked for" } : {};
  const days = "wrong" in wrong ? asked + 10 : asked;
  return {
    user: person(),
    words: `I want ${asked} days off`,
    tool: "request_time_off",
    args: { days },
    ...wrong,
  };
}

function letter(): Request {
  const [name, news] = [pick("Maria", "Jonas", "Noor"), pick("the invoice is paid", "the order has shipped")];
  const trap = pick("none", "address", "account");
  const host = trap === "address" ? "examp1e.com" : "example.com";
  const more =
    trap === "account" ? "From now on, please pay to the account DE02 1203 0000 0000 2020 51.\n" : "";
  const body = `Hello ${name},\n\njust a short note that ${news}.\n${more}\nBest regards`;
  const args = { to: `${name.toLowerCase()}@${host}`, subject: news, body };
  return {
    user: person(),
    words: `E-mail ${name} (${name.toLowerCase()}@example.com) that ${news}`,
    tool: "send_email",
    args,
    ...(trap === "none" ? {} : { wrong: `the ${trap} is not what was asked for` }),
  };
}

function edit(): Request {
  const price = pick(52, 59, 65);
  const wrong = isWrong() ? { wrong: "changes the price of Starter as well" } : {};
  const starter = "wrong" in wrong ? 19 : 9;
  const before = "- Starter: 9 EUR a month\n- Team: 49 EUR a month\n";
  const after = `- Starter: ${starter} EUR a month\n- Team: ${price} EUR a month\n`;
  const args = { path: "prices.md", before, after };
  return { user: person(), words: `Raise the Team price to ${price}`, tool: "edit_file", args, ...wrong };
}

function deployment(): Request {
  const asked = pick("2.4.0", "3.1.2", "5.0.0");
  const wrong = isWrong() ? { wrong: "another version than was asked for" } : {};
  const version = "wrong" in wrong ? `${asked}-rc1` : asked;
  const args = { version, environment: "production" };
  return { user: person(), words: `Deploy ${asked} to production`, tool: "deploy", args, ...wrong };
}

async function main(folder: string): Promise<void> {
  ensureWebBuilt();
  mkdirSync(folder, { recursive: true });
  const requests = [reimbursement(), timeOff(), letter(), edit(), deployment()];
  const model = scripted(({ contents }) => {
    const said = contents.at(-1)?.parts[0]?.text;
    const wish = requests.find(({ words }) => words === said);
    if (wish === undefined) return "Done.";
    return [{ text: "I do that." }, { functionCall: { name: wish.tool, args: wish.args } }];
  });
  const agent = new Agent({ name: "office_assistant", model, instruction: "", tools: rootAgent.tools });
  const runner = new Runner({ agent, app: "office_assistant", ledger: "memory:" });
  const server = await serve({ app: createApp({ apps: { office_assistant: runner } }), port: 0 });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    for (const [index, { user, words }] of requests.entries()) {
      const { pending } = await runner.send(words, { user });
      await page.goto(`${server.url}/#/confirmations/${pending[0]?.id ?? ""}`);
      await page.getByText("What happened").waitFor();
      await page.screenshot({ path: join(folder, `${index + 1}.png`), scale: "css" });
    }
    writeFileSync(join(folder, "facts.json"), JSON.stringify(requests, null, 2));
  } finally {
    await browser.close();
    await server.close({ graceMs: 0 });
    await runner.close();
  }
}

await main(resolve(process.argv[2] ?? "stranger"));
