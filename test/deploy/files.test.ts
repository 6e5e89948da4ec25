import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { LEDGER_FLAG } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { SERVE_FLAGS } from "../../src/cli/serving/serve-options.ts";
import { METRIC_NAMES, METRICS } from "../../src/http/telemetry/catalog.ts";
import { readStages, textsOf, variablesOf as variablesOfImage, wordsOf } from "./dockerfile.ts";
import {
  type Container,
  partOf,
  podsOf,
  readDocuments,
  readServices,
  variablesOf,
  YAML_FILES,
} from "./manifests.ts";

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");
const manifest = JSON.parse(read("package.json")) as { readonly version: string };
const locked = JSON.parse(read("package-lock.json")) as {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
};

const stages = readStages();
const image = stages.at(-1) ?? { base: "", name: undefined, steps: [] };
const services = readServices();
const pods = podsOf("Deployment");
const [server] = pods.containers;

// A second before the process gives up by itself, and some to write the last lines.
const SPARE_SECONDS = 3;

/** Every variable that `serve` reads, by its flags; and those that hold what no command line should. */
const KNOWN_VARIABLES: ReadonlySet<string> = new Set([
  ...Object.keys({ ...SERVE_FLAGS, ...LEDGER_FLAG })
    .filter((name) => name !== "break-glass")
    .map((name) => `COUNTERSIGN_${name.toUpperCase().replaceAll("-", "_")}`),
  "COUNTERSIGN_SECRET",
  "COUNTERSIGN_WEBHOOK_SECRET",
  "COUNTERSIGN_OIDC_CLIENT_SECRET",
]);

const SETTINGS = {
  "the image": variablesOfImage(image),
  "compose: countersign": services["countersign"]?.environment ?? {},
  "compose: migrate": services["migrate"]?.environment ?? {},
  "the Deployment": variablesOf(server),
  "the Job": variablesOf(podsOf("Job").containers[0]),
};

const LINES = {
  "the image": wordsOf(image, "CMD"),
  "compose: countersign": services["countersign"]?.command ?? [],
  "compose: migrate": services["migrate"]?.command ?? [],
  "the Deployment": server.args,
  "the Job": podsOf("Job").containers[0].args,
};

test("every YAML file is valid, without duplicate keys", () => {
  expect(YAML_FILES.length).toBeGreaterThan(6);
  for (const file of YAML_FILES) expect(readDocuments(file).length, file).toBeGreaterThan(0);
});

test.each(Object.entries(SETTINGS))("%s sets nothing that `serve` does not know", (_, variables) => {
  const ours = Object.keys(variables).filter((name) => name !== "NODE_ENV");
  expect(ours.length).toBeGreaterThan(0);
  for (const name of ours) expect(KNOWN_VARIABLES, name).toContain(name);
});

test.each(Object.entries(LINES))(
  "%s starts a command that there is, with flags that it has",
  async (_, words) => {
    const command = await COMMANDS.find(({ name }) => name === words[0])?.load();
    expect(command, words[0]).toBeDefined();
    const flags = words.flatMap((word) => /^--([a-z0-9-]+)/.exec(word)?.[1] ?? []);
    for (const flag of flags) expect(Object.keys(command?.flags ?? {})).toContain(flag);
  },
);

describe("the image", () => {
  test("uses the Node.js that everything is tested with, in every stage", () => {
    const version = locked.packages["node_modules/node"]?.version;
    expect(new Set(stages.map(({ base }) => base))).toEqual(new Set([`node:${version}-bookworm-slim`]));
  });

  test("is labelled with the package's version and licence", () => {
    const [labels = ""] = textsOf(image, "LABEL");
    expect(labels).toContain(`org.opencontainers.image.version="${manifest.version}"`);
    expect(labels).toContain(`org.opencontainers.image.licenses="Apache-2.0"`);
  });

  test("runs as a user with a number that is not root's, and is asked for its health without another program", () => {
    expect(textsOf(image, "USER")).toEqual(["10001:10001"]);
    expect(wordsOf(image, "HEALTHCHECK")[0]).toBe("node");
    expect(wordsOf(image, "ENTRYPOINT")[0]).toBe("node");
  });

  test("holds only what earlier stages made: the packed package and its production packages", () => {
    const copies = textsOf(image, "COPY");
    expect(copies).toEqual([
      "--from=packages /app/node_modules /app/node_modules",
      "--from=build /build/package /app",
    ]);
    const [packages] = stages.filter(({ name }) => name === "packages");
    expect(packages === undefined ? "" : textsOf(packages, "RUN").join()).toContain("npm ci --omit=dev");
  });

  test("is built from files that are there and that the build is given", () => {
    const given = read(".dockerignore").split("\n");
    const sources = stages
      .flatMap((stage) => textsOf(stage, "COPY"))
      .filter((text) => !text.startsWith("--from") && text !== ". .")
      .flatMap((text) => text.split(" ").slice(0, -1));
    expect(sources.length).toBeGreaterThan(4);
    for (const source of sources) {
      expect(existsSync(`${ROOT}/${source}`), source).toBe(true);
      expect(
        given.some((line) => line === `!${source}` || source.startsWith(`${line.slice(1)}/`)),
        source,
      ).toBe(true);
    }
    for (const line of given.filter((entry) => entry.startsWith("!")))
      expect(existsSync(`${ROOT}/${line.slice(1)}`), line).toBe(true);
  });
});

test.each([
  ["Deployment", "countersign"],
  ["Job", "migrate"],
] as const)("the containers of the %s have no right that they do not need", (kind, name) => {
  const spec = podsOf(kind);
  const [user] = textsOf(image, "USER");
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name,
        image: "countersign",
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        resources: {
          requests: { cpu: expect.any(String) as unknown, memory: expect.any(String) as unknown },
          limits: { memory: expect.any(String) as unknown },
        },
      },
    ],
  });
  const { runAsUser, runAsGroup } = spec["securityContext"] as Readonly<Record<string, number>>;
  expect(`${runAsUser}:${runAsGroup}`).toBe(user);
});

test("the replicas of compose are as confined", () => {
  for (const name of ["countersign", "migrate"]) {
    expect(services[name], name).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
  }
});

test("there are three replicas, of which never more than one is taken away on purpose", () => {
  expect(partOf("Deployment", "spec", "replicas")).toBe(3);
  expect(services["countersign"]).toMatchObject({ deploy: { replicas: 3 } });
  expect(partOf("Deployment", "spec", "strategy", "rollingUpdate", "maxUnavailable")).toBe(0);
  expect(partOf("PodDisruptionBudget", "spec", "maxUnavailable")).toBe(1);
});

test("whatever selects the pods selects those of the Deployment", () => {
  const labels = partOf("Deployment", "spec", "template", "metadata", "labels");
  const selectors = [
    partOf("Deployment", "spec", "selector", "matchLabels"),
    partOf("Service", "spec", "selector"),
    partOf("PodDisruptionBudget", "spec", "selector", "matchLabels"),
    partOf("NetworkPolicy", "spec", "podSelector", "matchLabels"),
  ];
  for (const selector of selectors) expect(labels).toMatchObject(selector as object);
});

function http(path: string): object {
  return { httpGet: { path, port: "http" } };
}

test("the ports that others name are the container's, and it listens there", () => {
  expect(server.ports).toEqual([
    { name: "http", containerPort: Number(variablesOfImage(image)["COUNTERSIGN_PORT"]) },
  ]);
  expect(partOf("Service", "spec", "ports")).toMatchObject([{ targetPort: "http" }]);
  expect(JSON.stringify(partOf("NetworkPolicy", "spec", "ingress"))).toContain(`"port":"http"`);
  expect(server).toMatchObject({
    startupProbe: http("/readyz"),
    readinessProbe: http("/readyz"),
    livenessProbe: http("/healthz"),
  });
});

/** How long a process with these settings takes to end, at most. */
function secondsToEnd(variables: Readonly<Record<string, string>>): number {
  return Number(variables["COUNTERSIGN_DRAIN"]) + Number(variables["COUNTERSIGN_GRACE"]) + SPARE_SECONDS;
}

test("a replica is given more time to end than it takes at most", () => {
  const preStop = server.lifecycle?.preStop.sleep.seconds ?? Number.NaN;
  expect(preStop + secondsToEnd(variablesOf(server))).toBeLessThanOrEqual(
    pods.terminationGracePeriodSeconds ?? 0,
  );
  const { stop_grace_period = "", environment = {} } = services["countersign"] ?? {};
  expect(secondsToEnd(environment)).toBeLessThanOrEqual(Number(/^(\d+)s$/.exec(stop_grace_period)?.[1]));
});

test("what is secret comes from the one Secret that the guide tells to make, with those keys", () => {
  const containers: readonly Container[] = [server, podsOf("Job").containers[0]];
  const references = containers.flatMap(({ env }) =>
    env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
  );
  const told = [...read("docs/guides/deploy.md").matchAll(/--from-literal=([a-z-]+)=/g)].map(
    ([, key = ""]) => key,
  );
  expect(new Set(references.map(({ name }) => name))).toEqual(new Set(["countersign"]));
  expect(references.map(({ key }) => key).toSorted()).toEqual(told.toSorted());
  for (const { env } of containers)
    for (const { name, value } of env) if (/SECRET|DB/.test(name)) expect(value, name).toBeUndefined();
});

test("the kustomization lists every other file of its folder", () => {
  const file = "deploy/kubernetes/kustomization.yaml";
  const [{ resources }] = readDocuments(file) as readonly [{ readonly resources: readonly string[] }];
  const others = YAML_FILES.filter((other) => dirname(other) === dirname(file) && other !== file);
  expect(resources.map((name) => join(dirname(file), name)).toSorted()).toEqual(others);
});

test("the alerts are about metrics that there are, and each is in the page on operations", () => {
  const names = METRIC_NAMES.map((key) => METRICS[key].name);
  const page = read("docs/operations.md");
  const [{ groups }] = readDocuments("deploy/alerts/countersign.yaml") as readonly [
    {
      readonly groups: readonly {
        readonly rules: readonly { readonly alert: string; readonly expr: string }[];
      }[];
    },
  ];
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(4);
  for (const { alert, expr } of rules) {
    const used = [...expr.matchAll(/countersign_\w+/g)].map(([name]) => name.replace(/_bucket$/, ""));
    expect(used.length, alert).toBeGreaterThan(0);
    for (const name of used) expect(names, alert).toContain(name);
  }
  const listed = [...page.matchAll(/^\| `(Countersign\w+)` +\|/gm)].map(([, name]) => name);
  expect(listed).toEqual(rules.map(({ alert }) => alert));
  for (const [name] of page.matchAll(/countersign_[a-z_]+/g)) expect(names, name).toContain(name);
});
