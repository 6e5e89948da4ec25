/**
 * E-mail. Decided here: what a mail says and to whom it goes; how mails of one question form a thread; and when a mail has a
 * link that decides without a login, and what that link may do.
 */

export { createEmailChannel, type EmailOptions } from "./email-channel.ts";
export type { EmailPerson, EmailSettings } from "./email-options.ts";
