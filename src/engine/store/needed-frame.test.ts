import { expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import { hostOf, message, modelSays, planned, settle, toolOf } from "../testing/execution.ts";

const session = { app: "bank", user: "ana", id: "s" };

test.each([3, 4])(
  "a call that ends %d runs after its own was cancelled is answered in the session",
  async (runs) => {
    const clock = new ManualClock();
    const ledger = await createLedger("memory:", { clock });
    const engine = new Engine({ ledger, clock });
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = toolOf(() => promise);
    engine.host(
      hostOf("bank", { slow }, async (frame) => {
        const parts = partsOf(engine);
        if (frame.invocation === "i0")
          await recordTurn(parts, frame, {
            event: modelSays("wait", "i0"),
            calls: [planned("a", "slow", { kind: "run", tool: slow })],
          });
        else await finishFrame(parts, frame, { status: "done", event: modelSays("hi", frame.invocation) });
      }),
    );
    let key = "";
    for (let run = 0; run <= runs; run += 1) {
      const received = await receiveMessage(partsOf(engine), message(session, "go", `i${run}`));
      if (!received.ok) throw new Error(received.message);
      key = received.frame.session;
      partsOf(engine).executions.step(received.frame);
      await settle(clock);
      if (run === 0)
        expect(await engine.cancelRun({ session: key, invocation: "i0", reason: "stop" })).toBe(true);
    }
    resolve("done");
    await settle(clock);
    expect((await ledger.calls([`${key}.a`]))[0]?.status).toBe("succeeded");
    const answers = (await ledger.events(key)).flatMap(({ content }) =>
      (content?.parts ?? []).filter((part) => "functionResponse" in part),
    );
    expect(answers).toHaveLength(1);
    await engine.close();
    await ledger.close();
  },
);
