import { expect } from "vitest";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { altered } from "./altered.ts";
import type { AdapterCase } from "./cases.ts";
import { ana, question, questions, type Scene } from "./scene.ts";
import type { ModelCall } from "./subject.ts";

/** An approved call, whose stored arguments somebody replaces under its id: that call does not run, the approved one does. */
async function replaced(scene: Scene, call: Omit<ModelCall, "id">, to: JsonObject): Promise<void> {
  const engine = await scene.engine();
  const host = scene.host(engine);
  const { state } = await host.send([{ id: "c1", ...call }]);
  const { id, args } = await question(engine);
  await engine.approve(id, { by: ana });
  let changes = 0;
  const change = (text: string): string => {
    const after = altered(text, { from: [call.args, args], to });
    if (after !== text) changes += 1;
    return after;
  };
  const changed = host.edit === undefined ? change(state) : host.edit(state, change);
  expect(changes).toBeGreaterThan(0);

  await host.resume(changed).catch(() => {});
  expect(scene.payments).toEqual([]);
  expect(await host.resume(state)).toMatchObject({ status: "done" });
  expect(scene.payments).toEqual([args]);
}

const transfer = (to: string, withReference = false): Omit<ModelCall, "id"> => ({
  tool: "transfer",
  args: { payment: { to, amount: 40, withReference } },
});

/** A call is known by what the model sent. */
export const identity: readonly AdapterCase[] = [
  {
    name: "an approved call's id with fewer arguments is not the approved call, also if defaults fill them in",
    run: (scene) => replaced(scene, { tool: "order", args: { amount: 40, number: "n-1" } }, { amount: 40 }),
  },
  {
    name: "an approved call's id with more arguments is not the approved call, also if they replace defaults",
    run: (scene) => replaced(scene, { tool: "order", args: { amount: 40 } }, { amount: 40, number: "n-2" }),
  },
  {
    name: "arguments that a schema renames run as they were shown, and others under the call's id do not",
    run: (scene) => replaced(scene, transfer("Bob"), transfer("Eve").args),
  },
  {
    name: "a schema that renames arguments and makes a new value at each parse is asked about once, and runs as it was shown or not at all",
    async run(scene) {
      const engine = await scene.engine();
      const { state } = await scene.host(engine).send([{ id: "c1", ...transfer("Bob", true) }]);
      const { id, args } = await question(engine);
      await engine.approve(id, { by: ana });
      const other = scene.host(await scene.engine());
      await other.resume(state).catch(() => {});
      expect([[], [args]]).toContainEqual(scene.payments);
      expect(await questions(engine)).toEqual([]);
    },
  },
];
