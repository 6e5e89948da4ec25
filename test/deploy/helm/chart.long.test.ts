import { readFileSync } from "node:fs";
import { Validator } from "@cfworker/json-schema";
import { beforeAll, expect, test, vi } from "vitest";
import { ROOT } from "../../../scripts/command.ts";
import { ensureGoLibraries } from "../../../scripts/test-tools.ts";
import { type Container, partOf, podsOf } from "../manifests.ts";
import { type Rendered, readChartFile, renderChart } from "./render-chart.ts";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(() => void ensureGoLibraries(), 600_000);

interface Pods {
  readonly template: {
    readonly spec: { readonly containers: readonly [Container]; readonly volumes?: unknown };
  };
}

function containerOf(rendered: ReadonlyMap<string, Rendered>, kind: string): Container {
  return podSpecOf(rendered, kind).containers[0];
}

function podSpecOf(rendered: ReadonlyMap<string, Rendered>, kind: string): Pods["template"]["spec"] {
  const found = rendered.get(kind);
  if (found === undefined) throw new Error(`The chart makes no ${kind}.`);
  return (found.spec as unknown as Pods).template.spec;
}

/** The labels of a release name it; the plain manifests have none. */
function withoutInstance(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) => (key.endsWith("/instance") ? undefined : member)),
  );
}

test("with its own values the chart makes what the manifests say", () => {
  const rendered = renderChart();
  expect([...rendered.keys()].toSorted()).toEqual([
    "Deployment",
    "Job",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Service",
  ]);
  for (const kind of ["Service", "PodDisruptionBudget", "NetworkPolicy"])
    expect(withoutInstance(rendered.get(kind)?.spec), kind).toEqual(partOf(kind, "spec"));
  for (const kind of ["Deployment", "Job"] as const) {
    const { image: _, imagePullPolicy: _pull, ...container } = containerOf(rendered, kind);
    const { image: _plain, ...plain } = podsOf(kind).containers[0];
    expect(container, kind).toEqual(plain);
    const { containers: _ours, ...pod } = podSpecOf(rendered, kind);
    const { containers: _theirs, ...plainPod } = podsOf(kind);
    expect(withoutInstance(pod), kind).toEqual(plainPod);
  }
  expect(rendered.get("Job")?.metadata.annotations?.["helm.sh/hook"]).toBe("pre-install,pre-upgrade");
});

test("what is set reaches the server", () => {
  const policy =
    'rules:\n  - id: pay\n    match: { tool: pay }\n    then: confirm\n    hint: "Pay {{args.amount}}?"\n';
  const rendered = renderChart({
    replicas: 5,
    drainSeconds: 10,
    graceSeconds: 60,
    listenUrlKey: "listen-url",
    readUrlKey: "read-url",
    policy,
    env: [{ name: "COUNTERSIGN_AUTH", value: "oidc" }],
    migrate: false,
    ingress: { enabled: true, className: "nginx", tlsSecretName: "certificate" },
    networkPolicy: { enabled: false },
    publicUrl: "https://ok.example:8443/x",
  });
  expect(rendered.has("Job")).toBe(false);
  expect(rendered.has("NetworkPolicy")).toBe(false);
  expect(rendered.get("Deployment")?.spec["replicas"]).toBe(5);
  expect(podSpecOf(rendered, "Deployment")).toMatchObject({ terminationGracePeriodSeconds: 85 });
  const { env } = containerOf(rendered, "Deployment");
  expect(env).toContainEqual({ name: "COUNTERSIGN_AUTH", value: "oidc" });
  expect(env).toContainEqual({ name: "COUNTERSIGN_POLICY", value: "/policy/policy.yaml" });
  expect(env).toContainEqual({
    name: "COUNTERSIGN_LISTEN_URL",
    valueFrom: { secretKeyRef: { name: "countersign", key: "listen-url" } },
  });
  expect(env).toContainEqual({
    name: "COUNTERSIGN_READ_URL",
    valueFrom: { secretKeyRef: { name: "countersign", key: "read-url" } },
  });
  expect(rendered.get("ConfigMap")?.data?.["policy.yaml"]?.trim()).toBe(policy.trim());
  expect(rendered.get("Ingress")?.spec).toMatchObject({
    ingressClassName: "nginx",
    tls: [{ hosts: ["ok.example"], secretName: "certificate" }],
    rules: [{ host: "ok.example" }],
  });
});

test("the schema of the values takes the chart's own, and refuses what would open it or not work", () => {
  const schema = readChartFile("values.schema.json") as object;
  const validator = new Validator(schema, "7", false);
  const own = readChartFile("values.yaml") as Readonly<Record<string, unknown>>;
  expect(validator.validate(own).errors).toEqual([]);
  const wrong = [
    { publicUrl: "http://approvals.example.com" },
    { replicas: 0 },
    { replica: 3 },
    { networkPolicy: { enabled: true, fromNamespaces: [] } },
    { image: { repository: "x", tag: 1 } },
  ];
  for (const values of wrong)
    expect([values, validator.validate({ ...own, ...values }).valid]).toEqual([values, false]);
});

test("the chart is of this version", () => {
  const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")) as {
    readonly version: string;
  };
  expect(readChartFile("Chart.yaml")).toMatchObject({ version, appVersion: version });
});
