export { createEmailChannel, type EmailOptions } from "./email-channel.ts";
export type { EmailPerson, EmailSettings } from "./email-options.ts";
