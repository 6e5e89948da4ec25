import { expect, onTestFinished, test } from "vitest";
import { rootAgent as finance } from "../../examples/agents/finance_assistant/agent.ts";
import { rootAgent as hr } from "../../examples/agents/hr_assistant/agent.ts";
import { command, ROOT } from "../../scripts/command.ts";
import { type AnyAgent, Runner } from "../../src/index.ts";

const user = "ana";
const by = { id: user };

function makeRunner(agent: AnyAgent): Runner {
  const runner = new Runner({ agent, ledger: "memory:" });
  onTestFinished(() => runner.close());
  return runner;
}

test("the finance assistant asks before every reimbursement, and pays once a person said so", async () => {
  const runner = makeRunner(finance);
  const asked = await runner.send("Reimburse me $2,500", { user });
  expect(asked.text).toBe(
    "I am initiating the reimbursement request for 2500. Since this exceeds $1000, manager approval is required. Please confirm the request to submit it for review.",
  );
  expect(asked.pending).toMatchObject([
    { tool: "reimburse", hint: "The amount 2500 exceeds the $1000 limit and requires manager approval." },
  ]);
  const { finished } = await runner.approve(String(asked.pending[0]?.id), { by });
  expect((await finished).text).toBe("Large reimbursement of 2500 approved by manager and processed.");
  const small = await runner.send("Reimburse me $45", { user, session: asked.session });
  expect(small.pending).toMatchObject([{ hint: "Do you want to reimburse 45?" }]);
  const less = await runner.approve(String(small.pending[0]?.id), { by, payload: { amount: 40 } });
  expect((await less.finished).text).toBe("Reimbursement of 40 has been successfully processed.");
});

test("the requester sees a denial and its reason", async () => {
  const runner = makeRunner(finance);
  const asked = await runner.send("Reimburse me $45", { user });
  const { finished } = await runner.deny(String(asked.pending[0]?.id), { by, reason: "no receipt" });
  expect((await finished).text).toBe("It was not paid: tool call was rejected by the user: no receipt.");
});

test("the HR assistant grants what the manager says, also if somebody talked on meanwhile", async () => {
  const runner = makeRunner(hr);
  const asked = await runner.send("I want 5 days off", { user });
  expect(asked.pending).toMatchObject([{ tool: "request_time_off", payload: { approved_days: 5 } }]);
  const talk = await runner.send("Hello?", { user, session: asked.session });
  expect(talk.text).toBe(`Tell me how many days, as in "I want 5 days off".`);
  const { finished } = await runner.approve(String(asked.pending[0]?.id), {
    by,
    payload: { approved_days: 3 },
  });
  expect((await finished).text).toBe("The request for 5 days was approved (Total approved: 3).");
});

test.each(["finance_assistant", "hr_assistant"])("%s thinks with a real model where a key is set", (name) => {
  const script = `const { rootAgent } = await import("./examples/agents/${name}/agent.ts");
    console.log(typeof rootAgent.model === "string" ? rootAgent.model : rootAgent.model.name);`;
  const modelWith = (key: string): string =>
    command("node", ["-e", script], {
      cwd: ROOT,
      env: { GEMINI_API_KEY: key, GOOGLE_API_KEY: "" },
    }).stdout.trim();
  expect(modelWith("")).toBe("scripted");
  expect(modelWith("a-key")).toBe("gemini-flash-latest");
});
