import { join } from "node:path";
import { ROOT } from "../../../scripts/command.ts";

/** What one process has compiled the others need not. */
export const COMPILE_CACHE: string = join(ROOT, "node_modules", ".cache", "countersign-compiled");
