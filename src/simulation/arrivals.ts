import type { JsonObject } from "../protocol/index.ts";
import type { Random } from "./random.ts";
import { type ArgValue, HOUR_MS, type Scenario, weekdayOf } from "./scenario.ts";

/** A call that an agent wants to make. */
export interface Arrival {
  readonly at: number;
  readonly agent: number;
  readonly tool: string;
  readonly app: string;
  readonly args: JsonObject;
}

/** The calls of one hour, in no order. The number varies around the average, as independent calls do. */
export function arrivalsIn(hourStart: number, scenario: Scenario, random: Random): readonly Arrival[] {
  const { agents, calls, hours, weekdays } = scenario;
  const all = hours.reduce((sum, weight) => sum + weight, 0);
  const hour = new Date(hourStart).getUTCHours();
  const weight = ((hours[hour] ?? 0) / all) * (weekdays[weekdayOf(hourStart)] ?? 0);
  return calls.flatMap(({ tool, app, args, perAgentPerDay }) => {
    const count = random.poisson(agents * perAgentPerDay * weight);
    return Array.from({ length: count }, () => ({
      at: hourStart + Math.floor(random.next() * HOUR_MS),
      agent: random.below(agents),
      tool,
      app,
      args: Object.fromEntries(Object.entries(args).map(([name, value]) => [name, drawn(value, random)])),
    }));
  });
}

const CENTS = 100;

function drawn(value: ArgValue, random: Random): JsonObject[string] {
  switch (value.kind) {
    case "fixed":
      return value.value;
    case "one-of":
      return value.values[random.below(value.values.length)] ?? null;
    case "spread":
      return Math.round(random.spread(value.spread) * CENTS) / CENTS;
  }
}
