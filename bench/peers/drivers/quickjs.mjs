// quickjs-emscripten in Node: a runtime and a context of its own for each call,
// with its limits set, as its documentation shows.

import { getQuickJS, newQuickJSWASMModule, shouldInterruptAfterDeadline } from "quickjs-emscripten";
import { failed, inputOf, now, serve, version } from "./lib.mjs";

const MEMORY = 64 << 20;
// What the documentation shows. With the default, endless recursion overflows
// the stack of Node first, and the module is unusable after it.
const STACK = 320 * 1024;

let quickjs;
let warm;
let held = [];

function open(memory, timeoutMs) {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(memory);
  runtime.setMaxStackSize(STACK);
  runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + timeoutMs));
  return { runtime, context: runtime.newContext() };
}

function close({ runtime, context }) {
  context.dispose();
  runtime.dispose();
}

function evaluate({ context }, code) {
  const value = context.unwrapResult(context.evalCode(code));
  try {
    return context.dump(value);
  } finally {
    value.dispose();
  }
}

function first() {
  const vm = open(MEMORY, 5000);
  try {
    return evaluate(vm, "1+1");
  } finally {
    close(vm);
  }
}

async function run(request) {
  const text = inputOf(request);
  const begin = now();
  const vm = open(request.memory, request.timeout_ms);
  const ready = now();
  const took = () => ({ start_ms: ready - begin, run_ms: now() - ready });
  let answer;
  try {
    let code = request.body + `\n;JSON.stringify(${request.expr})`;
    if (text !== undefined) {
      vm.context.newString(text).consume((s) => vm.context.setProp(vm.context.global, "text", s));
      code = "const rows = JSON.parse(text);" + code;
    }
    vm.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + request.timeout_ms));
    answer = { status: "ok", value: evaluate(vm, code), ...took() };
  } catch (e) {
    answer = { ...failed(e.name, e.message), ...took() };
    if (e.message === "interrupted") Object.assign(answer, { status: "timeout", how: "InternalError: interrupted" });
  }
  try {
    close(vm);
  } catch (e) {
    // The module that all contexts share is lost, and another one has to be loaded.
    answer = { status: "died", how: "module aborted", error: { type: e.name, message: e.message } };
    quickjs = await newQuickJSWASMModule();
    held = [];
    warm = open(MEMORY, 3_600_000);
  }
  return answer;
}

await serve({
  once: async () => ((quickjs = await getQuickJS()), first()),
  load: async () => {
    quickjs = await getQuickJS();
    warm = open(MEMORY, 3_600_000);
  },
  versions: () => ({ "quickjs-emscripten": version("quickjs-emscripten") }),
  start: first,
  again: () => evaluate(warm, "1+1"),
  run,
  hold: (count) => {
    for (let i = 0; i < count; i++) {
      held.push(open(MEMORY, 600_000));
      evaluate(held.at(-1), "1+1");
    }
  },
  drop: () => {
    held.forEach(close);
    held = [];
  },
});
