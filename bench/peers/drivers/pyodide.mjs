// Pyodide in Node, as its documentation loads it. A call with a time limit runs
// in a worker, because only another thread can interrupt it.

import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { loadPyodide } from "pyodide";
import { failed, inputOf, now, serve, version } from "./lib.mjs";

/** How long an interrupt may take before the worker is ended. */
const PATIENCE = 1000;

/** Runs a request in an interpreter, in a namespace of its own. */
function runIn(p, request, text) {
  let stdout = 0;
  p.setStdout({ write: (bytes) => ((stdout += bytes.length), bytes.length) });
  const scope = p.toPy({});
  try {
    if (text !== undefined) scope.set("text", text);
    const begin = now();
    p.runPython((text === undefined ? "" : "import json\nrows = json.loads(text)\n") + request.body, { globals: scope });
    const value = p.runPython(`__import__("json").dumps(${request.expr})`, { globals: scope });
    return { status: "ok", value, stdout, run_ms: now() - begin };
  } catch (e) {
    return { ...failed(e.type ?? e.name, e.message.trim().split("\n").at(-1)), stdout };
  } finally {
    scope.destroy();
  }
}

/** Runs a request in a worker that ends with it. */
async function runApart(request) {
  const interrupt = new Uint8Array(new SharedArrayBuffer(1));
  const begin = now();
  const text = inputOf(request);
  const worker = new Worker(new URL(import.meta.url), { workerData: { request, text, interrupt } });
  let loaded, timers = [], how = "";
  try {
    return await new Promise((resolve) => {
      const took = () => ({ start_ms: loaded - begin, run_ms: now() - loaded });
      worker.on("message", (message) => {
        if (message !== "loaded") {
          const answer = { ...message, ...took() };
          if (how) Object.assign(answer, { status: "timeout", how });
          resolve(answer);
          return;
        }
        loaded = now();
        timers.push(setTimeout(() => {
          how = "KeyboardInterrupt";
          interrupt[0] = 2;
        }, request.timeout_ms));
        timers.push(setTimeout(() => {
          // The worker is ended below.
          resolve({ status: "unstopped", how: "KeyboardInterrupt caught, worker ended", ...took() });
        }, request.timeout_ms + PATIENCE));
      });
      worker.on("error", (e) => resolve({ ...failed(e.name, e.message), ...took() }));
      worker.on("exit", (code) => resolve({ status: "died", how: `worker exit ${code}`, ...took() }));
    });
  } finally {
    timers.forEach(clearTimeout);
    await worker.terminate();
  }
}

let warm;
let held = [];

if (isMainThread) {
  await serve({
    once: async () => (await loadPyodide()).runPython("1+1"),
    load: async () => { warm = await loadPyodide(); },
    versions: () => ({ pyodide: version("pyodide"), python: warm.runPython("import sys; sys.version.split()[0]") }),
    start: async () => (await loadPyodide()).runPython("1+1"),
    again: () => warm.runPython("1+1"),
    run: (request) => (request.warm ? runIn(warm, request, inputOf(request)) : runApart(request)),
    hold: async (count) => {
      for (let i = 0; i < count; i++) {
        held.push(await loadPyodide());
        held.at(-1).runPython("1+1");
      }
    },
    drop: () => { held = []; },
  });
} else {
  const p = await loadPyodide();
  p.setInterruptBuffer(workerData.interrupt);
  parentPort.postMessage("loaded");
  parentPort.postMessage(runIn(p, workerData.request, workerData.text));
}
