import { hintForPeople } from "../engine/index.ts";
import type { Notice } from "./channel.ts";

/** What messages are about: the confirmation, or a call that nobody was asked about. */
export function subjectOf(about: Notice["about"]): string {
  return "id" in about ? about.id : JSON.stringify([about.app, about.user, about.session, about.callId]);
}

/** The question in its author's words; empty if there are none for people. */
export function hintOf(about: Notice["about"]): string {
  return "hint" in about ? hintForPeople(about.hint) : "";
}
