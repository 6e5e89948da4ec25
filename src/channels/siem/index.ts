export { type AllSetAside, listSetAside, type SetAside } from "./place.ts";
export { dropSetAside, retrySetAside, type WhichSetAside } from "./set-aside.ts";
export { createSiem, type RunningSiem, type Siem, type SiemHooks } from "./siem.ts";
export type { SiemOptions, SiemSettings } from "./siem-options.ts";
