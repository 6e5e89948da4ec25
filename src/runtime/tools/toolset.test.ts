import { describe, expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import {
  Agent,
  BaseTool,
  FunctionTool,
  type JsonObject,
  type Toolset,
  tool,
  toolset,
  withConfirmation,
} from "../../index.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;

const read = tool({ name: "read", description: "Reads.", execute: () => "read" });
const write = tool({ name: "write", description: "Writes.", execute: () => "written" });

describe("a toolset", () => {
  test("is asked before every model call, so it may change", async () => {
    let tools = [read];
    const changing: Toolset = { name: "files", tools: async () => tools };
    const model = play("One.", "Two.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [changing] }) });
    await runner.send("hi", { ...ana, session: "s" });
    tools = [read, write];
    await runner.send("hi", { ...ana, session: "s" });
    expect(model.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([
      ["read"],
      ["read", "write"],
    ]);
  });

  test("that fails ends the run, which says so", async () => {
    const broken: Toolset = {
      name: "broken",
      tools: async () => {
        throw new Error("no server");
      },
    };
    const runner = makeRunner({ agent: new Agent({ name: "a", model: play("Hi."), tools: [broken] }) });
    expect(await runner.send("hi", ana)).toMatchObject({ status: "failed", error: { message: "no server" } });
  });

  test("with a tool of a name that is taken is refused", async () => {
    const agent = new Agent({ name: "a", model: play("Hi."), tools: [read, toolset("files", [read])] });
    expect(await makeRunner({ agent }).send("hi", ana)).toMatchObject({
      status: "failed",
      error: { message: 'The agent a has two tools named "read".' },
    });
  });

  test("may be put behind a confirmation for some calls only", async () => {
    const confirmed = withConfirmation(toolset("files", [read, write]), {
      when: (args) => (args as { readonly path?: string }).path === "/",
    });
    const model = play([call("write", { path: "/tmp" }), call("write", { path: "/" })], "Done.");
    const turn = await makeRunner({ agent: new Agent({ name: "a", model, tools: [confirmed] }) }).send(
      "go",
      ana,
    );
    expect(turn.pending.map(({ args }) => args)).toEqual([{ path: "/" }]);
  });

  test("an option that withConfirmation does not know is refused", () => {
    expect(() => withConfirmation(toolset("files", []), { wehn: false } as never)).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });

  test("keeps the gate of a tool's own, and tools written as classes work behind it", async () => {
    class Remove extends BaseTool {
      readonly #removed: JsonObject[] = [];
      override checkRequireConfirmation(): boolean {
        return true;
      }
      override runAsync({ args }: { readonly args: JsonObject }): JsonObject {
        this.#removed.push(args);
        return { removed: this.#removed.length };
      }
    }
    const remove = new Remove({ name: "remove", description: "" });
    const agent = new Agent({
      name: "a",
      model: play([call("remove", { path: "/x" })], "Removed."),
      tools: [withConfirmation(toolset("files", [remove]))],
    });
    const runner = makeRunner({ agent });
    const turn = await runner.send("go", ana);
    expect(turn.pending[0]?.why).toEqual([
      "the tool requires confirmation",
      "its toolset requires confirmation",
    ]);
    const { finished } = await runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } });
    expect(await finished).toMatchObject({ text: "Removed." });
  });
});

async function reimburse(): Promise<string> {
  return "ok";
}

describe("the ADK's FunctionTool", () => {
  test("takes its name from its function", () => {
    expect(new FunctionTool({ description: "", execute: reimburse }).name).toBe("reimburse");
  });

  test("refuses an option that it does not know: a misspelt gate would be one left open", () => {
    const options = { name: "t", description: "", execute: reimburse, require_confirmation: true };
    expect(() => new FunctionTool(options)).toThrow(
      expect.objectContaining({ code: "invalid-option", details: { option: "require_confirmation" } }),
    );
  });
});
