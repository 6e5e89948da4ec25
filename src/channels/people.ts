import { type Confirmation, mayDecide, type Principal } from "../engine/index.ts";

/** A person as the configuration of the channels knows them. */
export interface ChannelPerson {
  /** The id under which they decide, as rules and other logins name them. */
  readonly id: string;
  readonly roles?: readonly string[];
}

/** The person as the one who acts through a channel. */
export function toChannelPrincipal({ id, roles = [] }: ChannelPerson): Principal {
  return { id, kind: "channel", roles, scopes: ["decide"], authenticated: true };
}

/** Does the confirmation's rule ask this person? */
export function isAsked(about: Confirmation, person: Principal): boolean {
  return mayDecide(about, person);
}

/** Those of the people whom the confirmation's rule asks. */
export function askedAmong<Person extends ChannelPerson>(
  about: Confirmation,
  people: readonly Person[],
): readonly Person[] {
  return people.filter((person) => isAsked(about, toChannelPrincipal(person)));
}
