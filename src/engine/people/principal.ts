/** How the principal was identified. */
export type PrincipalKind = "local" | "token" | "oidc" | "channel" | "provider" | "agent" | "author";

/** Who acts. Comes from the authentication layer, or from the host program, never from a message's body. */
export interface Principal {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** False if only the host program says so, or there is no login. */
  readonly authenticated: boolean;
  /** The person that the caller acts for, if the caller has the right to. Both count as the requester. */
  readonly onBehalfOf?: string;
}

/** The part of a principal that a host program must give. Defaults: not authenticated, no roles. */
export type PrincipalInput = Pick<Principal, "id"> & Partial<Principal>;

/** Completes what a host passed: unauthenticated and without roles unless it says otherwise. */
export function toPrincipal(input: PrincipalInput): Principal {
  return { kind: "local", roles: [], scopes: [], authenticated: false, ...input };
}

/** Who asks, as they are known now: what is stored with what they ask for. */
export function askerOf({
  id,
  kind,
  authenticated,
  roles,
}: Principal): Pick<Principal, "id" | "kind" | "authenticated"> & Partial<Pick<Principal, "roles">> {
  return { id, kind, authenticated, ...(roles.length === 0 ? {} : { roles }) };
}

/** The caller when there is no login. It could be anybody, so no rule that names users or roles allows it. */
export const ANYBODY: Principal = {
  id: "local",
  kind: "local",
  roles: [],
  scopes: [],
  authenticated: false,
};

/** Is this {@link ANYBODY}, and not somebody who was named by a host or a login? */
export function isAnybody({ id, kind, authenticated }: Principal): boolean {
  return id === ANYBODY.id && kind === ANYBODY.kind && !authenticated;
}

/**
 * Who may decide. `"requester"`: the person who asked confirms what the model does for them. The object form is
 * maker-checker: any of the roles or users, and with `notRequester` never the person who asked.
 */
export type Approvers =
  | "requester"
  | {
      readonly roles?: readonly string[];
      readonly users?: readonly string[];
      readonly notRequester?: boolean;
    };
