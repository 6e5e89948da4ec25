import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/index.ts";
import type { KeyValueStore } from "../ledger/index.ts";
import type { DailyTime } from "./hold.ts";
import type { QuietHours } from "./quiet-hours.ts";

const KIND = "notification-settings";

/** How somebody wants to be told of questions. */
export interface NotificationSettings {
  /** The channels that do not tell them of questions. */
  readonly off: readonly string[];
  /** When only what is urgent is told. */
  readonly quiet?: QuietHours;
  /** When they are told of questions, once a day; what is urgent is told at once. */
  readonly daily?: DailyTime;
}

/** The settings of a person; who has none is told by all channels, at any time. */
export async function notificationSettings(
  store: Pick<KeyValueStore, "get">,
  person: string,
): Promise<NotificationSettings> {
  const item = await store.get(KIND, person);
  return item === undefined ? { off: [] } : readSettings(item.value);
}

/** Replaces the settings of a person. The last of several stays. */
export async function putNotificationSettings(
  store: Pick<KeyValueStore, "get" | "put">,
  person: string,
  { off, quiet, daily }: NotificationSettings,
): Promise<void> {
  const value = {
    off: [...new Set(off)].toSorted(),
    ...(quiet === undefined ? {} : { quiet: { ...quiet } }),
    ...(daily === undefined ? {} : { daily: { ...daily } }),
  };
  for (;;) {
    const { version = 0 } = (await store.get(KIND, person)) ?? {};
    if (await store.put({ kind: KIND, id: person, value }, version)) return;
  }
}

// Only `put` writes these.
function readSettings(value: JsonValue): NotificationSettings {
  const { off = [], quiet, daily } = isJsonObject(value) ? value : {};
  return { off: isJsonArray(off) ? off.map(String) : [], ...readQuiet(quiet), ...readDaily(daily) };
}

function readQuiet(value: JsonValue | undefined): Pick<NotificationSettings, "quiet"> {
  const { timeZone, from, to } = value !== undefined && isJsonObject(value) ? value : {};
  const isWhole = typeof timeZone === "string" && typeof from === "string" && typeof to === "string";
  return isWhole ? { quiet: { timeZone, from, to } } : {};
}

function readDaily(value: JsonValue | undefined): Pick<NotificationSettings, "daily"> {
  const { timeZone, at } = value !== undefined && isJsonObject(value) ? value : {};
  return typeof timeZone === "string" && typeof at === "string" ? { daily: { timeZone, at } } : {};
}
