import { z } from "@hono/zod-openapi";

const patterns = z
  .array(z.string())
  .min(1)
  .max(50)
  .openapi({ description: "Patterns of names; `*` and `?` are wildcards." });
const scope = z.strictObject({ app: patterns.optional(), tool: patterns.optional() });

/** Somebody lets another person vote for them. */
export const delegationSchema: z.ZodType = z
  .object({
    id: z.string(),
    from: z.string().openapi({ description: "Who is away." }),
    to: z.string().openapi({ description: "Who votes for them." }),
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    scope: scope.optional(),
  })
  .openapi("Delegation");

/** The delegations in force. */
export const delegationListSchema: z.ZodType = z
  .object({ items: z.array(delegationSchema) })
  .openapi("DelegationList");

export interface DelegationBody {
  readonly from?: string | undefined;
  readonly to: string;
  readonly until: string;
  readonly scope?:
    | { readonly app?: readonly string[] | undefined; readonly tool?: readonly string[] | undefined }
    | undefined;
}

/** A delegation to be made. */
export const delegationBodySchema: z.ZodType<DelegationBody> = z
  .strictObject({
    from: z
      .string()
      .optional()
      .openapi({ description: "Who is away; you, if it is left out. Others need `admin`." }),
    to: z.string().openapi({ description: "Who votes for them." }),
    until: z.iso.datetime({ offset: true }),
    scope: scope.optional(),
  })
  .openapi("NewDelegation");
