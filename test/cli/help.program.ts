// Prints the help of every command as `countersign <command> --help` does, a JSON line each.
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { main } from "../../src/cli/main.ts";

const write = process.stdout.write.bind(process.stdout);
// Each run of `main` listens for a closed pipe.
process.stdout.setMaxListeners(COMMANDS.length + 1);
for (const { name } of COMMANDS) {
  let help = "";
  process.stdout.write = (text: string | Uint8Array): boolean => {
    help += String(text);
    return true;
  };
  const code = await main([...name.split(" "), "--help"]);
  write(`${JSON.stringify({ type: "help", name, code, help })}\n`);
}
