import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Folder, makeFolder } from "./command.ts";

const DB = ["--db", "sqlite:countersign-demo.db"];

interface Listed {
  readonly items: readonly { readonly id: string }[];
}

function openIds(folder: Folder): readonly string[] {
  return (folder.json(["pending", ...DB]) as Listed).items.map(({ id }) => id);
}

describe("without a terminal", () => {
  test("the demo plays both answers and ends well, in 80 columns and without colour", () => {
    const folder = makeFolder();
    const { code, stdout, stderr } = folder.run(["demo"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("No terminal to ask in: this run plays both answers.");
    expect(stdout).toContain(`The call: succeeded {"paid":2500}`);
    expect(stdout).toContain("5 of 5 got the decision that stands.");
    expect(stdout).toContain("[already-decided]");
    expect(stdout).toContain("The journal verifies");
    expect(stdout).not.toContain("\u001b");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(existsSync(join(folder.path, "countersign-demo.db"))).toBe(true);
    expect(openIds(folder)).toEqual([]);
  });

  test("a program gets what ran, and how often", () => {
    expect(makeFolder().json(["demo", "--db", "memory:"])).toMatchObject({
      calls: [
        { args: { amount: 2500 }, status: "succeeded", runs: 1 },
        { args: { amount: 9000 }, status: "denied", runs: 0 },
      ],
      verified: true,
    });
  });
});

describe.skipIf(process.platform !== "linux")("in a terminal", () => {
  test("the demo asks, and a yes runs the function once", async () => {
    const terminal = makeFolder().terminal(["demo"]);
    await terminal.until("Approve? [y/n]");
    terminal.type("maybe\ry\r");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toContain(`succeeded {"paid":2500}`);
    expect(screen).toContain("The journal verifies");
  });

  test("a no does not run it", async () => {
    const terminal = makeFolder().terminal(["demo"], { NO_COLOR: "1" });
    await terminal.until("Approve? [y/n]");
    terminal.type("no\r");
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toContain("The call: denied");
    expect(screen).toContain("Times the function was entered: 0");
  });

  test("after Ctrl-C it still waits, and the next run finds it", async () => {
    const folder = makeFolder();
    const first = folder.terminal(["demo"]);
    await first.until("Approve? [y/n]");
    first.type("\u0003");
    const left = await first.ended();
    expect(left.code).toBe(130);
    expect(left.screen).toContain("Nothing is lost");
    const [id = ""] = openIds(folder);
    expect(left.screen).toContain(id.slice(-8));

    const second = folder.terminal(["demo"]);
    const screen = await second.until("Approve? [y/n]");
    expect(screen).toContain("Still waiting from an earlier run");
    expect(screen).toContain(id);
    second.type("y\r");
    expect(await second.ended()).toMatchObject({ code: 0 });
    expect(openIds(folder)).toEqual([]);
  });

  test("Ctrl-D leaves it waiting too", async () => {
    const folder = makeFolder();
    const terminal = folder.terminal(["demo"]);
    await terminal.until("Approve? [y/n]");
    terminal.type("\u0004");
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    expect(openIds(folder)).toHaveLength(1);
  });

  test("a decision in a second terminal runs in the first", async () => {
    const folder = makeFolder();
    const terminal = folder.terminal(["demo"]);
    await terminal.until("Approve? [y/n]");
    const [id = ""] = openIds(folder);
    const approved = folder.run(["approve", id.slice(-8), "--wait", "20", ...DB]);
    expect(approved).toMatchObject({ code: 0 });
    expect(approved.stdout).toContain(`{"paid":2500}`);
    const { code, screen } = await terminal.ended();
    expect(code).toBe(0);
    expect(screen).toContain("Decided elsewhere.");
  });
});
