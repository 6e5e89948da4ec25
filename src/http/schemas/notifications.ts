import { z } from "@hono/zod-openapi";
import { type DailyTime, isTimeZone, type QuietHours } from "../../engine/index.ts";

const MOST_CHANNELS = 50;
const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "A time of day is written HH:MM, from 00:00 to 23:59.");

export interface NotificationsBody {
  readonly off: readonly string[];
  readonly quiet?: QuietHours | undefined;
  readonly daily?: DailyTime | undefined;
}

const timeZone = z
  .string()
  .refine(isTimeZone, "This is no time zone that the server knows. Use a name such as Europe/Berlin.")
  .openapi({ description: "Such as `Europe/Berlin`." });

/** How somebody wants to be told of questions. */
export const notificationsSchema: z.ZodType<NotificationsBody> = z
  .strictObject({
    off: z
      .array(z.string().min(1).max(100))
      .max(MOST_CHANNELS)
      .openapi({ description: "The channels that do not tell you of questions." }),
    quiet: z
      .strictObject({
        timeZone,
        from: time,
        to: time,
      })
      .refine(({ from, to }) => from !== to, "`from` and `to` must differ.")
      .optional()
      .openapi({ description: "When only what is urgent is told, every day." }),
    daily: z.strictObject({ timeZone, at: time }).optional().openapi({
      description: "When you are told of questions, once a day. What is urgent is told at once.",
    }),
  })
  .openapi("NotificationSettings");
