/** How somebody came to be known. */
export type PrincipalKind = "local" | "token" | "oidc" | "channel" | "provider" | "agent" | "author";

/** Who acts. Comes from the authentication layer, or from the host program, never from a message's body. */
export interface Principal {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** False when the host program merely said so, or nobody asked. */
  readonly authenticated: boolean;
  /** The person a caller with the right to do so acts for. Both count as the requester. */
  readonly onBehalfOf?: string;
}

/** The part of a principal that a host program has to give; the rest means "asserted, no roles". */
export type PrincipalInput = Pick<Principal, "id"> & Partial<Principal>;

/** Completes what a host passed: unauthenticated and without roles unless it says otherwise. */
export function toPrincipal(input: PrincipalInput): Principal {
  return { kind: "local", roles: [], scopes: [], authenticated: false, ...input };
}

/**
 * Whoever comes in where nobody is asked to log in. It could be anybody, so this id belongs to no person: no rule
 * that names users or roles admits it.
 */
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
 * Who may decide. `"requester"` is the acting person guarding themselves from the model; the object form is
 * maker and checker: any of the roles or users, and with `notRequester` never the one who asked.
 */
export type Approvers =
  | "requester"
  | {
      readonly roles?: readonly string[];
      readonly users?: readonly string[];
      readonly notRequester?: boolean;
    };
