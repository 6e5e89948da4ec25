/**
 * The export of the journal as JSON lines, to a file or an address. Decided here: the format of a line; from where an export
 * continues; and when a record that an address refuses is set aside, sent again or dropped.
 */

export { type AllSetAside, listSetAside, type SetAside } from "./place.ts";
export { dropSetAside, retrySetAside, type WhichSetAside } from "./set-aside.ts";
export { createSiem, type RunningSiem, type Siem, type SiemHooks } from "./siem.ts";
export type { SiemOptions, SiemSettings } from "./siem-options.ts";
