export { type ScriptedAnswer, type ScriptedOptions, scripted } from "./scripted.ts";
