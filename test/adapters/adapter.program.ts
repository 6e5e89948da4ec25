import { ALONE } from "./alone/index.ts";
import { runProgram } from "./contract/run-program.ts";
import { SUBJECTS } from "./subjects/index.ts";

await runProgram(async (name) => {
  const subject = [...SUBJECTS, ...ALONE].find((each) => each.name === name);
  if (subject === undefined) throw new Error(`There is no subject ${name}.`);
  return subject;
});
