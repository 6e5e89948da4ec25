import { z } from "@hono/zod-openapi";

/** A failed delivery. */
export const deliverySchema: z.ZodType = z
  .object({
    channel: z.string(),
    sequence: z.int().openapi({ description: "The number of its journal record." }),
    kind: z.string().openapi({ description: "The kind of the journal record." }),
    confirmation: z.string().optional(),
    call: z.string().optional(),
    tool: z.string().optional(),
    attempts: z.int(),
    since: z.iso.datetime(),
    failedAt: z.iso.datetime(),
    reason: z.string().openapi({ description: "The last error." }),
  })
  .openapi("FailedDelivery");

/** Who was told of a confirmation. */
export const toldPeopleSchema: z.ZodType = z
  .object({
    items: z.array(
      z
        .object({
          channel: z.string(),
          person: z.string().optional().openapi({ description: "Absent if it went to a room." }),
          state: z
            .enum(["sending", "sent", "unsure", "failed"])
            .openapi({ description: "`unsure`: it may have arrived." }),
          at: z.iso.datetime().openapi({ description: "When the last attempt began." }),
          isReply: z.boolean().openapi({ description: "It follows another message to the same person." }),
          reason: z.string().optional().openapi({ description: "Why it failed. For administrators." }),
        })
        .openapi("ToldPerson"),
    ),
  })
  .openapi("ToldPeople");

/** A page of failed deliveries. */
export const deliveryPageSchema: z.ZodType = z
  .object({ items: z.array(deliverySchema), next: z.string().optional() })
  .openapi("FailedDeliveryPage");
