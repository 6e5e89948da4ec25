// Read by every Node.js that knows modules, to tell it that it is too old: nothing newer than ES2018 here.

const MAJOR = 22;
const MINOR = 18;

// Coding agents let a tool run when their hook ends with any code but 2.
const FAILED = process.argv[2] === "hook" ? 2 : 1;

/**
 * Runs the `main` of the module that `load` gives, with the arguments of this process, and takes its exit
 * code. On a Node.js that is too old nothing is loaded: one line says so, with `advice`, and the code is 1, or 2 for `hook`.
 */
export function start(load, advice) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < MAJOR || (major === MAJOR && minor < MINOR)) {
    process.stderr.write(
      `countersign needs Node.js ${MAJOR}.${MINOR} or newer; this is v${process.versions.node}. ${advice}\n`,
    );
    process.exitCode = FAILED;
    return;
  }
  load()
    .then(({ main }) => main(process.argv.slice(2)))
    .then((code) => {
      process.exitCode = code;
    })
    .catch((error) => {
      process.stderr.write(`countersign: ${(error && error.stack) || error}\n`);
      process.exitCode = FAILED;
    });
}
