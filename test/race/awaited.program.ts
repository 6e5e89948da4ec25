import { setTimeout as later } from "node:timers";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { Agent, createLedger, Engine, type Ledger, Runner } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { programOptions, say } from "../support/processes/program.ts";

/** What the program awaits, with nothing else that would keep its process alive. */
export type Awaited = "decision" | "answer" | "store";

const { awaited, url, confirmation } = programOptions() as {
  readonly awaited: Awaited;
  readonly url: string;
  readonly confirmation: string;
};

/** Others are always first: the session has moved whenever this process commits, so many times. */
function contended(ledger: Ledger, times: number): Ledger {
  let left = times;
  return new Proxy(ledger, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      if (property !== "commit") return value.bind(target) as unknown;
      return (...args: readonly unknown[]): unknown => {
        left -= 1;
        return left < 0
          ? Reflect.apply(value, target, args)
          : Promise.resolve({ ok: false, conflict: "version" });
      };
    },
  });
}

const ledger = await createLedger(url);

switch (awaited) {
  case "decision": {
    const engine = new Engine({ ledger: contended(ledger, 20) });
    const decided = await tryApprove(engine, confirmation, { by: { id: "ana" } });
    say({ type: decided.ok ? "approved" : decided.code });
    break;
  }
  case "answer": {
    const model = scripted(async () => {
      // As a socket that lets its process end: nothing but this is pending.
      await new Promise((resolve) => later(resolve, 200).unref());
      return "Hello.";
    });
    const runner = new Runner({ agent: new Agent({ name: "bot", model }), ledger });
    const { text } = await runner.send("Hi", { user: "ana" });
    say({ type: text });
    break;
  }
  case "store": {
    let refusals = 3;
    const engine = new Engine({
      ledger: new Proxy(ledger, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target);
          if (typeof value !== "function") return value;
          return (...args: readonly unknown[]): unknown => {
            const commit = args[0] as { readonly sync?: boolean };
            if (property === "commit" && commit.sync === false && refusals-- > 0)
              return Promise.reject(new Error("Not now."));
            return Reflect.apply(value, target, args);
          };
        },
      }),
    });
    const greet = engine.gate("greet", {}, async () => "Hello.");
    const outcome = await greet({}, { key: "k", by: { id: "ana" } });
    say({ type: outcome.status });
    break;
  }
}
