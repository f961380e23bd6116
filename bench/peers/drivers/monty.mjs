// @pydantic/monty: a Python interpreter in Rust, in the process of Node. JSON is
// parsed and written by the guest's own json: that is three times faster than
// values from JavaScript.

import { Monty, MontyRepl } from "@pydantic/monty";
import { failed, inputOf, now, serve, version } from "./lib.mjs";

const LIMITS = { maxDurationSecs: 5, maxMemory: 64 << 20 };

function run(request) {
  const text = inputOf(request);
  const given = text !== undefined;
  let stdout = 0;
  const begin = now();
  const took = () => ({ stdout, start_ms: 0, run_ms: now() - begin });
  try {
    const code = "import json\n" + (given ? "rows = json.loads(text)\n" : "") + request.body + `\njson.dumps(${request.expr})`;
    const m = new Monty(code, given ? { inputs: ["text"] } : undefined);
    const value = m.run({
      ...(given && { inputs: { text } }),
      limits: { maxDurationSecs: request.timeout_ms / 1000, maxMemory: request.memory },
      printCallback: (stream, line) => { stdout += line.length; },
    });
    return { status: "ok", value, ...took() };
  } catch (e) {
    const { typeName, message } = e.exception ?? { typeName: e.name, message: e.message };
    const answer = { ...failed(typeName, message), ...took() };
    if (typeName === "TimeoutError") Object.assign(answer, { status: "timeout", how: "TimeoutError" });
    return answer;
  }
}

let repl;
let held = [];

const first = () => new Monty("1+1").run({ limits: LIMITS });

await serve({
  once: first,
  // The clock of a session runs from its start, whether it computes or not.
  load: () => { repl = new MontyRepl({ limits: { ...LIMITS, maxDurationSecs: 3600 } }); },
  versions: () => ({ monty: version("@pydantic/monty"), python: new Monty("import sys\nsys.version").run() }),
  start: first,
  again: () => repl.feed("1+1"),
  run,
  hold: (count) => {
    for (let i = 0; i < count; i++) {
      held.push(new Monty("wait(1+1)").start({ limits: { ...LIMITS, maxDurationSecs: 600 } }));
      if (held.at(-1).args?.[0] !== 2) throw new Error("1+1 is not what it waits with");
    }
  },
  drop: () => { held = []; },
});
