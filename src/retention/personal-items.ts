/**
 * The kinds of items that go with a person who is erased: those of them whose id or value names the person. Not here:
 * remembered answers to requests and keys of calls. They are hashed or expire within a day, and while they are there
 * nothing runs twice.
 */
export const PERSONAL_ITEMS: readonly string[] = [
  "login",
  "login-link",
  "token",
  "push-subscription",
  "notification-settings",
  "mail-link",
  "channel-messages",
  "delegation",
  "state of user",
];
