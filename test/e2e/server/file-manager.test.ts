import { readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Agent } from "../../../src/index.ts";
import { loadManifest } from "../../../src/manifest/index.ts";
import { McpToolset } from "../../../src/mcp/index.ts";
import { call, play, resultsIn, useRunners } from "../../seeds/scripted-runner.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();
const makeRunner = useRunners();
const MANIFEST = fileURLToPath(new URL("../../../examples/agents/file_manager/agent.yaml", import.meta.url));
const SEED = new URL("../../seeds/002-file-manager.yaml", import.meta.url);
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

test("the manifest is the one of the document, to the letter", async () => {
  expect(await readFile(MANIFEST, "utf8")).toBe(await readFile(SEED, "utf8"));
});

test("it runs unchanged: reads at once, writes and deletes after approval", async () => {
  const [made] = loadManifest(MANIFEST);
  if (made === undefined) throw new Error("no agent");
  resources.add(() => made.close());
  const name = `note-${process.pid}.txt`;
  const file = join(tmpdir(), `countersign-files-${userInfo().uid}`, name);
  const runner = makeRunner({ agent: made.agent });
  const session = "s1";
  const writing = await runner.send(`write file ${name} "hello"`, { ...ana, session });
  expect(writing.pending).toMatchObject([
    { tool: "write_file", args: { path: name, content: "hello" }, source: "filesystem-server" },
  ]);
  await (await runner.approve(String(writing.pending[0]?.id), byAna)).finished;
  expect(await readFile(file, "utf8")).toBe("hello");
  expect(await runner.send(`read file ${name}`, { ...ana, session })).toMatchObject({
    status: "completed",
    text: "read_file: hello",
  });
  await writeFile(file, "still here");
  const deleting = await runner.send(`delete file ${name}`, { ...ana, session });
  await (await runner.deny(String(deleting.pending[0]?.id), byAna)).finished;
  expect(await readFile(file, "utf8")).toBe("still here");
  const again = await runner.send(`now do delete file ${name}`, { ...ana, session });
  await (await runner.approve(String(again.pending[0]?.id), byAna)).finished;
  await expect(readFile(file)).rejects.toThrow("ENOENT");
});

test.each(["/etc/passwd", "../outside.txt", "link", "folder/x.txt"])(
  "its server touches nothing outside of its folder: %s",
  async (path) => {
    const root = await resources.folder();
    const other = await resources.folder();
    await writeFile(join(other, "x.txt"), "not yours");
    await symlink(join(other, "x.txt"), join(root, "link"));
    await symlink(other, join(root, "folder"));
    const program = fileURLToPath(new URL("filesystem-server.mjs", new URL(`file://${MANIFEST}`)));
    const set = new McpToolset({
      name: "files",
      server: { command: "node", args: [program], env: { FILES_FOLDER: root } },
    });
    resources.add(() => set.close());
    const model = play([call("write_file", { path, content: "mine" })], "Done.");
    await makeRunner({ agent: new Agent({ name: "a", model, tools: [set] }) }).send("go", ana);
    expect(resultsIn(model.requests[1] as never)).toEqual([
      { error: expect.stringContaining("outside the scratch folder") as string },
    ]);
    expect(await readFile(join(other, "x.txt"), "utf8")).toBe("not yours");
  },
);
