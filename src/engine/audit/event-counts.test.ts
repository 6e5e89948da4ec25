import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage } from "../index.ts";
import { hostOf, message, modelSays } from "../testing/execution.ts";

test("an event that was hidden is found, with a secret and a head", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "rival-")), "l.db");
  const ledger = await createLedger(`sqlite:${path}`);
  const engine = new Engine({ ledger, secret: "0123456789abcdef0123456789abcdef0123456789abcdef" });
  engine.host(
    hostOf("bank", {}, async (frame) => {
      await finishFrame(partsOf(engine), frame, {
        status: "done",
        event: modelSays("Account 7 is a fraud."),
      });
    }),
  );
  const received = await receiveMessage(
    partsOf(engine),
    message({ app: "bank", user: "ana", id: "s" }, "check 7"),
  );
  if (!received.ok) throw new Error(received.message);
  partsOf(engine).executions.step(received.frame);
  await partsOf(engine).executions.idle();
  const head = await engine.head();
  const before = await ledger.events(received.frame.session);
  const file = new DatabaseSync(path);
  file.exec("update log set events = 0 where n = (select max(n) from log)");
  file.close();
  const after = await ledger.events(received.frame.session);
  const verification = await engine.verify({ head });
  await engine.close();
  await ledger.close();
  expect(before).toHaveLength(2);
  expect([after.length, verification.ok]).not.toEqual([1, true]);
});
