import { readFileSync } from "node:fs";
import { ROOT } from "../../scripts/command.ts";

/** One step of a container file. */
export interface Step {
  readonly name: string;
  readonly text: string;
}

/** The part of a container file from one FROM to the next. */
export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
}

/** The stages of deploy/Dockerfile, the last of which is the image. */
export function readStages(): readonly Stage[] {
  const text = readFileSync(`${ROOT}/deploy/Dockerfile`, "utf8");
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: { base: string; name: string | undefined; steps: Step[] }[] = [];
  for (const line of lines) {
    const [, name = "", rest = ""] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    const [, base = "", stage] = name === "FROM" ? (/^(\S+)(?: AS (\S+))?$/.exec(rest) ?? []) : [];
    if (name === "FROM") stages.push({ base, name: stage, steps: [] });
    else stages.at(-1)?.steps.push({ name, text: rest });
  }
  return stages;
}

/** What the steps of one name say, in order. */
export function textsOf({ steps }: Stage, name: string): readonly string[] {
  return steps.filter((step) => step.name === name).map(({ text }) => text);
}

/** The one command of an image, as a list of words. */
export function wordsOf(stage: Stage, name: "ENTRYPOINT" | "CMD" | "HEALTHCHECK"): readonly string[] {
  const [text = ""] = textsOf(stage, name);
  return JSON.parse(/\[.*\]$/s.exec(text)?.[0] ?? "") as readonly string[];
}

/** The variables that the image sets. */
export function variablesOf(stage: Stage): Readonly<Record<string, string>> {
  const pairs = textsOf(stage, "ENV").flatMap((text) => text.split(/ +/));
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s) as [string, string]));
}
