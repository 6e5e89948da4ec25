import { globSync, readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "../../scripts/command.ts";

/** As much of a pod's container as is looked at here. */
export interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly [more: string]: unknown;
}

/** The spec of the pods that a Deployment or a Job makes. */
export interface PodSpec {
  readonly containers: readonly [Container];
  readonly terminationGracePeriodSeconds?: number;
  readonly [more: string]: unknown;
}

/** A service of compose, with what it inherits. */
export interface Service {
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly [more: string]: unknown;
}

/** Every YAML file below deploy but the templates of the chart, which are YAML only when they are rendered. */
export const YAML_FILES: readonly string[] = globSync("deploy/**/*.yaml", { cwd: ROOT })
  .filter((file) => !file.includes("/templates/"))
  .toSorted();

/** What a file says; throws at what is no YAML, or says something twice. */
export function readDocuments(file: string): readonly unknown[] {
  const documents = parseAllDocuments(readFileSync(`${ROOT}/${file}`, "utf8"), { merge: true, strict: true });
  for (const { errors, warnings } of documents) {
    const [first] = [...errors, ...warnings];
    if (first !== undefined) throw new Error(`${file}: ${first.message}`);
  }
  return documents.map((document) => document.toJS() as unknown);
}

/** The Kubernetes objects, by kind. */
const MANIFESTS: ReadonlyMap<string, unknown> = new Map(
  YAML_FILES.filter((file) => file.includes("/kubernetes/"))
    .flatMap((file) => readDocuments(file) as readonly { readonly kind: string }[])
    .map((manifest) => [manifest.kind, manifest]),
);

/** What stands at a place of the object of this kind; throws where nothing does. */
export function partOf(kind: string, ...path: readonly string[]): unknown {
  let part: unknown = MANIFESTS.get(kind);
  for (const name of path) part = (part as Readonly<Record<string, unknown>> | undefined)?.[name];
  if (part === undefined) throw new Error(`There is no ${path.join(".")} of a ${kind}.`);
  return part;
}

/** The pods of a Deployment or a Job. */
export function podsOf(kind: "Deployment" | "Job"): PodSpec {
  return partOf(kind, "spec", "template", "spec") as PodSpec;
}

/** The services of compose. */
export function readServices(): Readonly<Record<string, Service>> {
  const text = readFileSync(`${ROOT}/deploy/compose.yaml`, "utf8");
  return (parse(text, { merge: true }) as { readonly services: Readonly<Record<string, Service>> }).services;
}

/** The variables that a container is given, those from a Secret as its key. */
export function variablesOf({ env }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.secretKeyRef.key ?? ""]),
  );
}
