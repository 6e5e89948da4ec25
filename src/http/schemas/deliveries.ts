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

/** A page of failed deliveries. */
export const deliveryPageSchema: z.ZodType = z
  .object({ items: z.array(deliverySchema), next: z.string().optional() })
  .openapi("FailedDeliveryPage");
