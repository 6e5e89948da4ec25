import type { NotificationSettings } from "countersign/client";

/** The settings as the form has them. */
export interface Typed {
  readonly off: readonly string[];
  readonly hasQuiet: boolean;
  readonly from: string;
  readonly to: string;
  readonly hasDaily: boolean;
  readonly at: string;
  readonly timeZone: string;
}

const NAMES: Readonly<Record<string, string>> = { slack: "Slack", email: "E-mail", push: "Push" };

/** A channel as people call it. */
export function channelName(channel: string): string {
  return NAMES[channel] ?? channel;
}

/** What the form shows of the settings; times that are not set are usual ones, in the zone of this machine. */
export function toTyped({ off, quiet, daily }: NotificationSettings, here: string): Typed {
  return {
    off,
    hasQuiet: quiet !== undefined,
    from: quiet?.from ?? "22:00",
    to: quiet?.to ?? "07:00",
    hasDaily: daily !== undefined,
    at: daily?.at ?? "09:00",
    timeZone: quiet?.timeZone ?? daily?.timeZone ?? here,
  };
}

/** The settings that the form says. */
export function toSettings({ off, hasQuiet, from, to, hasDaily, at, timeZone }: Typed): NotificationSettings {
  return {
    off,
    ...(hasQuiet ? { quiet: { timeZone, from, to } } : {}),
    ...(hasDaily ? { daily: { timeZone, at } } : {}),
  };
}
