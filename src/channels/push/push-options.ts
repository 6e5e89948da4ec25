import { CountersignError } from "../../protocol/index.ts";

const CONTACT = /^(?:mailto:[^\s@<>]+@[^\s@<>]+|https:\/\/\S+)$/;

/** How browsers are reached. */
export interface PushSettings {
  /** Where the push services' operators find you, as in `mailto:ops@example.com`. They may require a real one. */
  readonly contact: string;
  /** The id of the person who is told of calls with an unknown outcome that nobody was asked about. */
  readonly operator?: string;
  /** Origins of push services of your own, which need not be public. All others must be. */
  readonly services?: readonly string[];
}

/** Throws `invalid-option`. */
export function checkSettings(settings: PushSettings): PushSettings {
  const { contact, services = [] } = settings;
  if (!CONTACT.test(contact))
    throw invalid("contact", "`contact` must be an address like mailto:ops@example.com or an https URL.");
  const odd = services.find((service) => URL.parse(service)?.origin !== service);
  if (odd !== undefined)
    throw invalid("services", `"${odd}" is not an origin. Write it like https://push.example.com.`);
  return settings;
}

function invalid(field: string, message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field } });
}
