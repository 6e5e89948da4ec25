import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmod, chown } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { freePort, PostgresServer } from "../support/postgres/server.ts";
import { Resources, useResources } from "../support/resources.ts";
import { readStages, textsOf, variablesOf as variablesOfImage, wordsOf } from "./dockerfile.ts";
import { buildImage, manifestOfImage, userOf } from "./image.ts";
import { podsOf, variablesOf } from "./manifests.ts";

const resources = useResources();
const forAll = new Resources();
const image = readStages().at(-1) ?? { base: "", name: undefined, steps: [] };
const pods = podsOf("Deployment");
let root = "";
let user: ReturnType<typeof userOf> = {};

vi.setConfig({ testTimeout: 180_000 });

beforeAll(async () => {
  root = await forAll.folder();
  buildImage(root);
  user = userOf(textsOf(image, "USER")[0] ?? "", root);
}, 120_000);

afterAll(async () => {
  await setWritable(true);
  await forAll.release();
});

/** A path of the container as one of this machine; `node` is the one that runs this. */
function here(word: string): string {
  if (word === "node") return process.execPath;
  return word.replace(
    /^(sqlite:)?(\/(?:app|agents|data)(?:\/|$))/,
    (_, scheme = "", path: string) => `${scheme}${root}${path}`,
  );
}

interface Container {
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  /** Resolves once it has said this. */
  until(text: string): Promise<void>;
}

/** Starts what a container would, as its user, in its working directory. */
async function startContainer(
  args: readonly string[],
  given: Readonly<Record<string, string>> = {},
): Promise<Container> {
  const port = String(await freePort());
  const all = { ...variablesOfImage(image), ...given, COUNTERSIGN_HOST: "127.0.0.1", COUNTERSIGN_PORT: port };
  const env = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, here(value)]));
  const [program = "", ...words] = [...wordsOf(image, "ENTRYPOINT"), ...args].map(here);
  const cwd = here(textsOf(image, "WORKDIR")[0] ?? "");
  const child = spawn(program, words, { ...user, cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  resources.add(() => child.kill("SIGKILL"));
  let said = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      for (const listener of listeners) listener();
    });
  }
  const until = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (said.includes(text)) resolve();
      };
      listeners.add(look);
      ended.then(
        (code) => reject(new Error(`It ended with ${code} and had not said "${text}":\n${said}`)),
        () => {},
      );
      look();
    });
  return { env, url: `http://127.0.0.1:${port}`, process: child, ended, until };
}

/** The exit code of the image's own health check. */
function checkHealth({ env }: Container): number | null {
  const [program = "", ...words] = wordsOf(image, "HEALTHCHECK").map(here);
  return spawnSync(program, words, { ...user, env, timeout: 30_000 }).status;
}

async function statusAt(url: string): Promise<number | undefined> {
  return fetch(url).then(
    ({ status }) => status,
    () => undefined,
  );
}

async function setWritable(isWritable: boolean): Promise<void> {
  const data = join(root, "data");
  await chmod(data, isWritable ? 0o755 : 0o555);
  if (user.uid !== undefined && user.gid !== undefined)
    await chown(data, isWritable ? user.uid : 0, user.gid);
}

test("its packages are the production ones and the optional ones, in the versions that are tested", () => {
  const { dependencies, ...rest } = manifestOfImage(join(root, "data")) as ReturnType<
    typeof manifestOfImage
  > &
    object;
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(["hono", "pg", "jose", "@a2a-js/sdk"]));
  expect(Object.values(dependencies).every((range) => typeof range === "string")).toBe(true);
  expect(rest).not.toHaveProperty("workspaces");
  expect(rest).not.toHaveProperty("devDependencies");
});

test("the image's own command serves from a file in /data, is healthy, and ends when it is told to", async () => {
  await setWritable(true);
  const container = await startContainer(wordsOf(image, "CMD"));
  await container.until("Countersign is running at");
  expect(checkHealth(container)).toBe(0);
  expect(await statusAt(`${container.url}/readyz`)).toBe(200);
  expect(await statusAt(`${container.url}/v1/confirmations`)).toBe(401);
  container.process.kill("SIGTERM");
  expect(await container.ended).toBe(0);
  expect(checkHealth(container)).toBe(1);
});

test("the Deployment's command serves what its Job made, with nothing that it could write to, and leaves before it ends", async () => {
  await setWritable(false);
  const server = await PostgresServer.start();
  resources.add(() => server.stop());
  const COUNTERSIGN_DB = server.url("postgres");
  const [migrate] = podsOf("Job").containers;
  const job = await startContainer(migrate.args, { ...variablesOf(migrate), COUNTERSIGN_DB });
  await job.until("created with schema");
  expect(await job.ended).toBe(0);
  const [serve] = pods.containers;
  const pod = await startContainer(serve.args, { ...variablesOf(serve), COUNTERSIGN_DB });
  await pod.until("Countersign is running at");
  expect(checkHealth(pod)).toBe(0);
  expect(await statusAt(`${pod.url}/readyz`)).toBe(200);

  const toldAt = performance.now();
  pod.process.kill("SIGTERM");
  let statuses: readonly (number | undefined)[];
  do {
    await sleep(10);
    statuses = await Promise.all(["/readyz", "/healthz"].map((path) => statusAt(`${pod.url}${path}`)));
  } while (statuses[0] === 200);
  expect(statuses).toEqual([503, 200]);
  expect(await pod.ended).toBe(0);
  expect(await statusAt(`${pod.url}/readyz`)).toBeUndefined();
  const graceMs = 1_000 * (pods.terminationGracePeriodSeconds ?? 0);
  expect(performance.now() - toldAt).toBeLessThan(graceMs);
});
