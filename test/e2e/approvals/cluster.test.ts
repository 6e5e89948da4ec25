import { expect, test } from "vitest";
import { partsOf } from "../../../src/engine/index.ts";
import { useResources } from "../../support/resources.ts";
import { startApprovalsServer } from "./approvals-server.ts";

const resources = useResources();

test("a decision taken on a server that does not host the app resumes the run on the one that does", async () => {
  const ledger = `sqlite:${await resources.folder()}/ledger.db`;
  const bank = await startApprovalsServer(resources, { ledger });
  const approving = await startApprovalsServer(resources, { ledger, name: "approving" });
  const worker = bank.engine.work();
  resources.add(() => worker.stop());
  const [asked] = await bank.say("ana", "pay 5", "s-1");
  const path = `/v1/confirmations/${asked?.id}/decision?wait=60`;
  const { status, json } = await approving.ask("ana", "POST", path, { confirmed: true });
  expect([status, json["status"]]).toEqual([200, "succeeded"]);
  expect([bank.done, approving.done]).toEqual([[{ tool: "pay", args: { amount: 5 } }], []]);
  const session = await bank.runner.sessionService.getSession({ userId: "ana", sessionId: "s-1" });
  await partsOf(bank.engine).executions.settledIn(asked?.invocation ?? "");
  expect(session?.events.length).toBeGreaterThan(2);
});

test("of decisions that reach two servers at once, one wins and every caller gets the same answer", async () => {
  const ledger = `sqlite:${await resources.folder()}/ledger.db`;
  const one = await startApprovalsServer(resources, { ledger });
  const two = await startApprovalsServer(resources, { ledger, name: "approving" });
  const [asked] = await one.say("ana", "transfer 5");
  const path = `/v1/confirmations/${asked?.id}/decision`;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? one : two).ask(i % 4 < 2 ? "meg" : "max", "POST", path, { confirmed: i % 3 === 0 }),
    ),
  );
  const { json } = await one.ask("meg", "GET", `/v1/confirmations/${asked?.id}`);
  const confirmed = (json["decision"] as { confirmed: boolean }).confirmed;
  answers.forEach(({ status }, i) => {
    expect(status).toBe((i % 3 === 0) === confirmed ? 200 : 409);
  });
  await one.engine.finished(
    (await one.engine.ledger.load({ confirmation: asked?.id ?? "" }))?.call?.id ?? "",
  );
  expect(one.done).toHaveLength(confirmed ? 1 : 0);
});
