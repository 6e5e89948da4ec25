import { expect, test } from "vitest";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const AGENT = `apiVersion: kagent.dev/v1alpha2
kind: Agent
metadata:
  name: file-manager
spec:
  declarative:
    systemMessage: Help.
`;
const BROKEN = AGENT.replace("systemMessage", "systemMesage");
const CONFIG = JSON.stringify({ name: "configured", instruction: "Help." });

function validate(folder: Folder, ...args: readonly string[]) {
  return folder.run(["validate", ...args]);
}

test("a valid manifest is listed with its agents, and the exit code is 0", () => {
  const folder = makeFolder();
  folder.write("a.yaml", AGENT);
  folder.write("config.json", CONFIG);
  expect(validate(folder, "a.yaml", "config.json")).toEqual({
    code: 0,
    stdout: "a.yaml: file-manager\nconfig.json: configured\n",
    stderr: "",
  });
});

test("problems are printed with file, line and column, and the exit code is 1", () => {
  const folder = makeFolder();
  folder.write("bad.yaml", BROKEN);
  const { code, stdout } = validate(folder, "bad.yaml");
  expect(code).toBe(1);
  expect(stdout).toContain(
    'bad.yaml:7:5: spec.declarative has no member "systemMesage"; did you mean systemMessage?',
  );
});

test("a warning is printed, and the exit code is 0", () => {
  const folder = makeFolder();
  folder.write("a.yaml", `${AGENT}    stream: true\n`);
  const { code, stdout } = validate(folder, "a.yaml");
  expect(code).toBe(0);
  expect(stdout).toContain("a.yaml:8:13: warning: spec.declarative.stream is ignored outside a cluster");
});

test("a folder means all manifests in it", () => {
  const folder = makeFolder();
  folder.write("agents/one/agent.yaml", AGENT);
  folder.write("agents/two/agent.yaml", BROKEN);
  folder.write("code/agent.ts", "");
  const { code, stdout } = validate(folder, "agents", "--json");
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    manifests: [
      { agents: ["file-manager"], problems: [], warnings: [] },
      {
        problems: [
          { line: 7, column: 5 },
          { line: 7, column: 5 },
        ],
      },
    ],
  });
  expect(validate(folder, "code")).toMatchObject({ code: 2 });
});

test("a file that is not there, or none at all, is a mistake of the caller", () => {
  const folder = makeFolder();
  expect(validate(folder, "nowhere.yaml")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"nowhere.yaml" does not exist') as string,
  });
  expect(validate(folder)).toMatchObject({ code: 2 });
});

test("a manifest is served under its own name, a folder's under the folder's, and no two under one", async () => {
  const folder = makeFolder();
  folder.write("file-manager.yaml", AGENT);
  folder.write("folder/agent.yaml", AGENT);
  folder.write("other.yaml", AGENT);
  folder.write("config.json", CONFIG);
  const server = folder.start([
    "serve",
    "file-manager.yaml",
    "folder",
    "config.json",
    "--port",
    "0",
    "--json",
  ]);
  const printed = await server.until(/\{"url".*\n/);
  expect(JSON.parse(printed.trim())).toMatchObject({ apps: ["file-manager", "folder", "configured"] });
  server.signal("SIGTERM");
  await server.ended();
  const { code, stderr } = folder.run(["serve", "file-manager.yaml", "other.yaml", "--port", "0"]);
  expect(code).toBe(2);
  expect(stderr).toContain('The name "file-manager" is already used');
});
