// Runs one request in a process of Node and prints its answer as the last line.
// The request is JSON in the first argument; rows, if it has any, are JSON on
// standard input.

const request = JSON.parse(process.argv[1]);
const begin = performance.now();
let answer;
try {
  if (request.input) globalThis.rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
  answer = { status: "ok", value: (0, eval)(`${request.body}\n;JSON.stringify(${request.expr})`) };
} catch (e) {
  answer = { status: "error", error: { type: e.name, message: String(e.message).slice(0, 2000) } };
}
answer.run_ms = performance.now() - begin;
console.log("\n\x1e" + JSON.stringify(answer));
