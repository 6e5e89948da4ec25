import { type Confirmation, type Counting, mayDecide, type Principal } from "../engine/index.ts";

/** A person as the configuration of the channels knows them. */
export interface ChannelPerson {
  /** The id under which they decide, as rules and other logins name them. */
  readonly id: string;
  readonly roles?: readonly string[];
}

/** Who votes for whom now, and which logins are one person. */
export type PeopleKnown = Pick<Partial<Counting>, "delegations" | "directory">;

/** The person as the one who acts through a channel. */
export function toChannelPrincipal({ id, roles = [] }: ChannelPerson): Principal {
  return { id, kind: "channel", roles, scopes: ["decide"], authenticated: true };
}

/** Does the confirmation's rule ask this person, or somebody for whom they vote? */
export function isAsked(about: Confirmation, person: Principal, known: PeopleKnown = {}): boolean {
  return mayDecide(about, person, known);
}

/** Those of the people whom the confirmation's rule asks, and who vote for them. */
export function askedAmong<Person extends ChannelPerson>(
  about: Confirmation,
  people: readonly Person[],
  known: PeopleKnown = {},
): readonly Person[] {
  return people.filter((person) => isAsked(about, toChannelPrincipal(person), known));
}
