/**
 * A model for tests and demos that gives the answers it was made with.
 */

export { type ScriptedAnswer, type ScriptedOptions, scripted } from "./scripted.ts";
