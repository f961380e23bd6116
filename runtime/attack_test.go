package runtime_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/sandboxtest"
)

// jsAttack is code that tries to get out, or to take more than its share, and
// how that must end.
type jsAttack struct {
	name, code string
	globals    map[string]any
	limits     sandbox.Limits
	status     []sandbox.Status
	value      string // where it ends well
	errorType  string
	line       int // of the error, where it matters
	// reaches is a string that the attack prints once it is where it wants to be:
	// an attack that fails before it attacks proves nothing.
	reaches string
}

var (
	jsRaises  = []sandbox.Status{sandbox.StatusError}
	jsTimeout = []sandbox.Status{sandbox.StatusTimeout}
	jsMemory  = []sandbox.Status{sandbox.StatusMemoryLimit}
	jsEither  = []sandbox.Status{sandbox.StatusTimeout, sandbox.StatusMemoryLimit, sandbox.StatusError}
	jsOK      = []sandbox.Status{sandbox.StatusOK}

	jsShort = sandbox.Limits{Timeout: 300 * time.Millisecond}
	jsRoomy = sandbox.Limits{Timeout: 300 * time.Millisecond, MaxMemory: 512 << 20}
	jsSmall = sandbox.Limits{MaxMemory: 16 << 20, Timeout: 30 * time.Second}
)

// hostile is an argument made to pollute.
var hostile = map[string]any{"x": sandbox.RawJSON(`{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"toJSON":1,"then":2,"a":[{"__proto__":{"isAdmin":true}}]}`)}

// reachable walks everything that can be reached from the global object and
// from values of each kind, through properties, prototypes, constructors,
// descriptors and closures' source, and gives the names of what is neither of
// the language nor documented.
const reachable = `
const known = new Set("Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError InternalError SuppressedError globalThis JSON Math ArrayBuffer SharedArrayBuffer Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator Proxy Reflect decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN DOMException DisposableStack AsyncDisposableStack console performance crypto queueMicrotask setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate TextEncoder TextDecoder structuredClone atob btoa fetch XMLHttpRequest WebSocket require mayfly known seen strange walk".split(" "));
const seen = new Set(), strange = [];
function walk(v, path) {
  if ((typeof v !== "object" && typeof v !== "function") || v === null || seen.has(v) || path.length > 12) return;
  seen.add(v);
  for (const k of Reflect.ownKeys(v)) {
    const d = Reflect.getOwnPropertyDescriptor(v, k);
    for (const part of [d.value, d.get, d.set]) walk(part, [...path, String(k)]);
  }
  walk(Object.getPrototypeOf(v), [...path, "__proto__"]);
}
for (const name of Object.getOwnPropertyNames(globalThis)) if (!known.has(name)) strange.push(name);
walk(globalThis, []);
for (const v of [function* () {}, async () => {}, async function* () {}, [].values(), new Map().keys(), "".matchAll(/a/g), Promise.resolve(), new Error("x"), /x/, Symbol(), 1n, new Proxy({}, {}), (() => { try { null.x } catch (e) { return e } })()]) walk(Object(v), ["sample"]);
const get = (o, k) => { try { return o[k] } catch { return undefined } };
const doors = [...seen].map((v) => get(v, "constructor")).filter((c) => typeof c === "function").map((c) => { try { return c("return this")() } catch { return null } }).filter((r) => r !== null && typeof r === "object" && r !== globalThis && "process" in r);
console.log("walked");
[strange, doors.length, seen.size > 500, typeof process, typeof module]`

var jsAttacks = []jsAttack{
	// What there is to reach.
	{name: "a walk over everything reachable", code: reachable, limits: sandbox.Limits{Timeout: 20 * time.Second}, status: jsOK, value: `[[],0,true,"undefined","undefined"]`, reaches: "walked"},
	{name: "constructor of a constructor", code: `console.log("on"); const g = (() => {}).constructor.constructor("return this")(); [g === globalThis, typeof g.process, typeof g.std, typeof g.os]`, status: jsOK, value: `[true,"undefined","undefined","undefined"]`, reaches: "on"},
	{name: "constructors of async and generator functions", code: `console.log("on"); const A = (async () => {}).constructor, G = (function* () {}).constructor; [await A("return typeof process")(), G("yield typeof require('fs')")().next === undefined]`, status: jsOK, value: `["undefined",false]`, reaches: "on"},
	{name: "constructor of an argument", code: `console.log("on"); const F = rows[0].constructor.constructor; F("return this")() === globalThis`, globals: map[string]any{"rows": &sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{1}, {2}}}}, status: jsOK, value: "true", reaches: "on"},
	{name: "constructor of a console method", code: `console.log("on"); [console.log.constructor("return this")() === globalThis, Object.keys(console.log), (() => { try { return console.log.caller ?? null } catch (e) { return e.name } })()]`, status: jsOK, value: `[true,[],"TypeError"]`, reaches: "on"},
	{name: "callers and arguments of the bootstrap", code: `console.log("on"); let seen = []; Object.prototype.toString; const o = { get a() { try { seen.push(o.caller?.name) } catch (e) { seen.push(e.name) } return 1 } }; console.log(o); (function f() { try { return f.caller } catch (e) { return e.name } })() ?? null`, status: jsOK, value: `null`, reaches: "on"},

	// Prototype pollution, both ways.
	{name: "pollution through arguments", code: `console.log("on"); [({}).isAdmin, [].isAdmin, Object.prototype.hasOwnProperty("isAdmin"), { ...x }.isAdmin, Object.assign({}, x).isAdmin]`, globals: hostile, status: jsOK, value: `[null,null,false,null,true]`, reaches: "on"},
	{name: "pollution through results", code: `console.log("on"); Object.prototype.toJSON = () => "forged"; Array.prototype.toJSON = () => "forged"; Object.prototype.a = 1; Object.defineProperty(Object.prototype, "b", { get() { return 2 }, enumerable: true }); Array.prototype[5] = "hole"; ({ x: [1, , 3] })`, status: jsOK, value: `{"x":[1,null,3]}`, reaches: "on"},
	{name: "a result that looks like a response", code: `console.log("on"); ({ kind: 0, value: 1, error: { type: "x" }, $float: "nan" })`, status: jsOK, value: `{"kind":0,"value":1,"error":{"type":"x"},"$float":"nan"}`, reaches: "on"},
	{name: "iterators and species that are replaced", code: `console.log("on"); const m = new Map(); Array.prototype[Symbol.iterator] = function* () { yield "forged" }; Array[Symbol.species] = null; Map.prototype.entries = Map.prototype[Symbol.iterator] = Set.prototype.values = null; ({ a: [1], m, d: new Date(0) })`, status: jsOK, value: `{"a":[1],"m":{},"d":"1970-01-01T00:00:00.000Z"}`, reaches: "on"},
	{name: "a date whose method is replaced", code: `console.log("on"); Date.prototype.toISOString = Date.prototype.toJSON = Date.prototype.getTime = () => { throw 1 }; new Date(0)`, status: jsOK, value: `"1970-01-01T00:00:00.000Z"`, reaches: "on"},

	// Callbacks behind the end.
	{name: "promise callbacks behind the end", code: `console.log("on"); const out = { n: 0 }; const again = () => Promise.resolve().then(() => { out.n++; again() }); again(); out`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "timers behind the end", code: `console.log("on"); setInterval(() => {}, 1); 1`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "an async generator that never ends", code: `console.log("on"); async function* g() { for (;;) yield 1 } for await (const x of g());`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "a thenable that calls back for ever", code: `console.log("on"); const t = { then(f) { f(t) } }; await t`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "a finalizer behind the end", code: `console.log("on"); new FinalizationRegistry(() => { for (;;); }).register({}, 1); 1`, limits: sandbox.Limits{Timeout: 2 * time.Second}, status: append(slices.Clone(jsOK), jsTimeout...), reaches: "on"},
	{name: "a getter in the value that never returns", code: `console.log("on"); ({ get a() { for (;;); } })`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "a proxy that is endlessly wide", code: `console.log("on"); new Proxy([], { get: (t, k) => k === "length" ? 2 ** 53 - 1 : 0, has: () => true })`, limits: jsShort, status: jsEither, reaches: "on"},

	// Hooks of stacks.
	{name: "prepareStackTrace that spins", code: `console.log("on"); Error.prepareStackTrace = () => { for (;;); }; new Error("x").stack.length > 0`, limits: sandbox.Limits{Timeout: 5 * time.Second}, status: jsOK, value: "true", reaches: "on"},
	{name: "prepareStackTrace that would be given frames", code: `console.log("on"); let got = null; Error.prepareStackTrace = (e, frames) => { got = frames; return "forged" }; try { null.x } catch (e) { e.stack } [got, typeof Error.captureStackTrace]`, status: jsOK, value: `[null,"function"]`, reaches: "on"},
	{name: "captureStackTrace on a frozen proxy", code: `console.log("on"); let r; try { Error.captureStackTrace(Object.freeze(new Proxy({}, {}))); r = "done" } catch (e) { r = e.name } typeof r`, status: jsOK, value: `"string"`, reaches: "on"},

	// Huge work in one native call.
	{name: "joining a huge array", code: `console.log("on"); new Array(1e9).join()`, limits: jsShort, status: jsEither, reaches: "on"},
	{name: "joining a huge array with room", code: `console.log("on"); new Array(1e9).join("xx")`, limits: jsRoomy, status: jsEither, reaches: "on"},
	{name: "a huge string", code: `console.log("on"); "x".repeat(2 ** 30)`, limits: jsRoomy, status: jsRaises, errorType: "RangeError", reaches: "on"},
	{name: "a string beyond memory", code: `console.log("on"); "x".repeat(2 ** 29)`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "padding", code: `console.log("on"); "x".padStart(2 ** 29, "ab")`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "filling a huge array", code: `console.log("on"); new Array(2 ** 32 - 1).fill(0)`, limits: jsShort, status: jsEither, reaches: "on"},
	{name: "sorting with a comparator that lies", code: `console.log("on"); for (;;) Array.from({ length: 1e5 }, (_, i) => i).sort(() => Math.random() - 0.5)`, limits: jsRoomy, status: jsTimeout, reaches: "on"},
	{name: "indexOf over holes", code: `console.log("on"); Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "a huge BigInt", code: `console.log("on"); let r; try { r = 2n ** 2n ** 40n } catch (e) { r = e.name } r`, limits: jsRoomy, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "BigInt to text", code: `console.log("on"); for (;;) (7n ** 300000n).toString()`, limits: jsRoomy, status: jsTimeout, reaches: "on"},
	{name: "regular expression: nested quantifiers", code: `console.log("on"); /^(a+)+$/.test("a".repeat(50) + "b")`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "regular expression: alternatives", code: `console.log("on"); /^(a|a|aa)*$/.test("a".repeat(100) + "b")`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "regular expression: look-behind and back reference", code: `console.log("on"); /(?<=^(a*)*)b\1/.test("a".repeat(60) + "c")`, limits: jsShort, status: append(slices.Clone(jsTimeout), sandbox.StatusOK), reaches: "on"},
	{name: "regular expression: huge repetition", code: `console.log("on"); let r; try { r = new RegExp("(?:a{1000}){1000}{1000}".slice(0, 18) + "(?:(?:a{9999}){9999}){9999}").test("a") } catch (e) { r = e.name } typeof r`, limits: sandbox.Limits{Timeout: 5 * time.Second}, status: append(slices.Clone(jsOK), sandbox.StatusTimeout, sandbox.StatusMemoryLimit), reaches: "on"},
	{name: "JSON of a wide value", code: `console.log("on"); const a = Array(1000).fill(0); JSON.stringify(Array(1000).fill(Array(1000).fill(a)))`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "a wide value", code: `console.log("on"); const a = Array(1000).fill(0); Array(1000).fill(Array(1000).fill(a))`, limits: sandbox.Limits{Timeout: 500 * time.Millisecond}, status: []sandbox.Status{sandbox.StatusTimeout, sandbox.StatusOutputLimit}, reaches: "on"},
	{name: "structured lies about length", code: `console.log("on"); const o = { length: 2 ** 40, 0: 1 }; Array.from(o)`, limits: jsShort, status: jsEither, reaches: "on"},

	// Stacks.
	{name: "recursion", code: `console.log("on"); let n = 0; function f() { n++; f() } try { f() } catch (e) { globalThis.e = e } [e.name, n > 1000]`, status: jsOK, value: `["RangeError",true]`, reaches: "on"},
	{name: "recursion through natives", code: `console.log("on"); function f() { return [1].map(f) } let r; try { f() } catch (e) { r = e.name } r`, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "recursion through toString", code: `console.log("on"); const o = { toString() { return "" + o } }; let r; try { "" + o } catch (e) { r = e.name } r`, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "recursion through a proxy", code: `console.log("on"); let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); let r; try { r = typeof p.x } catch (e) { r = e.name } r`, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "recursion through prototypes of proxies", code: `console.log("on"); const p = new Proxy({}, { getPrototypeOf: () => p }); let r; try { r = ({}) instanceof Object && p instanceof Array } catch (e) { r = e.name } typeof r`, limits: jsShort, status: append(slices.Clone(jsOK), jsTimeout...), reaches: "on"},
	{name: "recursion through a getter", code: `console.log("on"); const o = { get a() { return this.a } }; let r; try { o.a } catch (e) { r = e.name } r`, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "recursion through JSON.parse", code: `console.log("on"); let r; try { JSON.parse("[".repeat(1e6)) } catch (e) { r = e.name } typeof r`, status: jsOK, value: `"string"`, reaches: "on"},
	{name: "recursion through JSON.stringify", code: `console.log("on"); let x = []; for (let i = 0; i < 1e5; i++) x = [x]; let r; try { JSON.stringify(x) } catch (e) { r = e.name } r`, limits: jsShort, status: append(slices.Clone(jsOK), jsTimeout...), reaches: "on"},
	{name: "recursion through flat, sort and replace", code: `console.log("on"); let x = []; for (let i = 0; i < 1e5; i++) x = [x]; const r = []; const t = (f) => { try { f() } catch (e) { r.push(e.name) } }; t(() => x.flat(Infinity)); t(function f() { [2, 1].sort(f) }); t(function f() { "a".replace(/a/, f) }); t(function f() { Reflect.construct(f, []) }); r`, status: jsOK, value: `["RangeError","RangeError","RangeError","RangeError"]`, reaches: "on"},
	{name: "recursion through eval", code: `console.log("on"); const s = "eval(s)"; let r; try { eval(s) } catch (e) { r = e.name } r`, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "recursion through generators", code: `console.log("on"); function* g() { yield* g() } let r; try { [...g()] } catch (e) { r = e.name } r`, status: jsOK, value: `"RangeError"`, reaches: "on"},
	{name: "recursion through bound functions", code: `console.log("on"); let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); let r; try { r = f() } catch (e) { r = e.name } r`, status: jsMemory /* their names grow */, reaches: "on"},
	{name: "recursion in a regular expression", code: `console.log("on"); let r; try { r = new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("") } catch (e) { r = e.name } typeof r`, limits: sandbox.Limits{Timeout: 10 * time.Second}, status: append(slices.Clone(jsOK), jsMemory...), reaches: "on"},
	{name: "a deep value", code: `console.log("on"); let x = []; for (let i = 0; i < 1e5; i++) x = [x]; x`, status: jsRaises, errorType: "ConversionError", reaches: "on"},
	{name: "a deep structure is dropped", code: `console.log("on"); let x = null; for (let i = 0; i < 3e5; i++) x = { x }; x = null; 1`, status: jsOK, value: "1", reaches: "on"},
	{name: "a long chain of strings", code: `console.log("on"); let s = ""; for (let i = 0; i < 2e4; i++) s = "a" + s + "b"; s.length + s.charCodeAt(30000)`, status: jsOK, value: "40098", reaches: "on"},
	{name: "an exception caught at every depth", code: `console.log("on"); function f() { try { f() } finally { f() } } f()`, limits: jsShort, status: jsEither, reaches: "on"},
	{name: "an overflow while an overflow is told", code: `console.log("on"); class E extends RangeError { get message() { return f() } } function f() { try { return f() } catch (e) { throw new E() } } f()`, limits: sandbox.Limits{Timeout: 2 * time.Second}, status: jsEither, reaches: "on"},

	// Memory.
	{name: "arrays until there is no more", code: `console.log("on"); const a = []; for (;;) a.push({ a })`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "caught and tried again", code: `console.log("on"); const a = []; for (;;) { try { for (;;) a.push(new Array(100).fill(0)) } catch {} }`, limits: sandbox.Limits{MaxMemory: 16 << 20, Timeout: 500 * time.Millisecond}, status: jsTimeout, reaches: "on"},
	{name: "rejections until there is no more", code: `console.log("on"); const a = []; for (;;) a.push(Promise.reject(a))`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "timers until there is no more", code: `console.log("on"); for (;;) setTimeout(() => {}, 1e6)`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "microtasks until there is no more", code: `console.log("on"); const p = Promise.resolve(); for (;;) p.then(() => {})`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "symbols and property names", code: `console.log("on"); const o = {}; for (let i = 0; ; i++) o["k" + i] = Symbol("k" + i)`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "map keys", code: `console.log("on"); const m = new Map(); for (let i = 0; ; i++) m.set({}, i)`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "buffers", code: `console.log("on"); const a = []; for (;;) a.push(new ArrayBuffer(1e6))`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "a buffer that grows", code: `console.log("on"); const b = new ArrayBuffer(1, { maxByteLength: 2 ** 30 }); b.resize(2 ** 30)`, limits: jsSmall, status: append(slices.Clone(jsMemory), jsRaises...), reaches: "on"},
	{name: "cycles are collected", code: `console.log("on"); for (let i = 0; i < 3e5; i++) { const a = {}; a.a = a; a.pad = new Array(10).fill(i) } 1`, limits: sandbox.Limits{MaxMemory: 32 << 20, Timeout: 20 * time.Second}, status: jsOK, value: "1", reaches: "on"},
	{name: "code until there is no more", code: `console.log("on"); const a = []; for (let i = 0; ; i++) a.push(new Function("return " + i + ";" + "x".repeat(1000)))`, limits: jsSmall, status: jsMemory, reaches: "on"},
	{name: "an error that is larger than memory allows", code: `console.log("on"); throw new Error("x".repeat(10_000_000))`, limits: jsSmall, status: jsRaises, errorType: "Error", reaches: "on"},

	// Saying more than may be said.
	// While the value is being written, code of its own runs.
	{name: "a getter that empties the array it lies in", code: `console.log("on"); const a = [1, 2, 3], o = { get x() { a.length = 0; a.push(9); return 1 } }; a.splice(1, 0, o); a`, status: jsOK, value: `[1,{"x":1},null,null]`, reaches: "on"},
	{name: "a getter that changes its neighbours", code: `console.log("on"); const inner = { get g() { delete outer.z; outer.y = 5; return 1 } }, outer = { a: 1, inner, z: 2 }; outer`, status: jsOK, value: `{"a":1,"inner":{"g":1},"y":5}`, reaches: "on"},
	{name: "a getter that detaches what was made before", code: `console.log("on"); const b = new ArrayBuffer(16), f = new Float64Array(b), u = new Uint8Array(b), d = new DataView(b); [f, { get x() { b.transfer(); return 1 } }, f, u, b, d]`, status: jsOK, value: `[[0,0],{"x":1},[],{"$bytes":""},{"$bytes":""},{"$bytes":""}]`, reaches: "on"},
	{name: "a proxy that shrinks a buffer", code: `console.log("on"); const b = new ArrayBuffer(32, { maxByteLength: 64 }), f = new Float64Array(b), d = new DataView(b, 16); const p = new Proxy([1, 2], { get(t, k) { if (k === "1") b.resize(8); return t[k] } }); [p, f, new Uint8Array(b), d]`, status: jsOK, value: `[[1,2],[0],{"$bytes":"AAAAAAAAAAA="},{"$bytes":""}]`, reaches: "on"},
	{name: "typed arrays whose length never returns", code: `console.log("on"); Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), "length", { get() { for (;;); } }); [new Float64Array([1, 2])]`, status: jsOK, value: `[[1,2]]`, reaches: "on"},
	{name: "a proxy that is itself, endlessly", code: `console.log("on"); const p = new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => new Proxy(p, {}) }); p`, status: jsRaises, errorType: "ConversionError", reaches: "on"},
	{name: "a proxy that lies about its keys", code: `console.log("on"); new Proxy({}, { ownKeys: () => ["a", "a"] })`, status: jsRaises, errorType: "ConversionError", reaches: "on"},
	{name: "a proxy whose length throws", code: `console.log("on"); new Proxy([], { get: (t, k) => { throw new Error(String(k)) } })`, status: jsRaises, errorType: "ConversionError", reaches: "on"},
	{name: "a revoked proxy", code: `console.log("on"); const { proxy, revoke } = Proxy.revocable([], {}); revoke(); console.log(proxy); console.table(proxy); console.error([proxy]); proxy`, status: jsRaises, errorType: "ConversionError", reaches: "on"},
	{name: "a built-in that is replaced for the encoder", code: `console.log("on"); const value = { a: [1, new Date(0)], b: new Map([[1, 2]]) }; delete globalThis.Object; delete globalThis.Array; Promise = JSON = Error = Map = Date = null; value`, status: jsOK, value: `{"a":[1,"1970-01-01T00:00:00.000Z"],"b":{"1":2}}`, reaches: "on"},

	// What is thrown is described, and is not asked.
	{name: "a proxy that is thrown", code: `console.log("on"); throw new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); }, ownKeys() { for (;;); }, getOwnPropertyDescriptor() { for (;;); } })`, status: jsRaises, errorType: "Proxy", reaches: "on"},
	{name: "an error that is its own cause", code: `console.log("on"); const e = new AggregateError([], "a"); e.errors = [e, e]; e.cause = new Error("b", { cause: e }); throw e`, status: jsRaises, errorType: "AggregateError", reaches: "on"},
	{name: "an error that has a frame in its stack", code: `console.log("on"); const e = new RangeError("x"); e.stack = "    at f (main.js:99:1)"; throw e`, status: jsRaises, errorType: "RangeError", line: 1, reaches: "on"},
	{name: "a function whose name has a frame in it", code: "console.log('on');\n\nconst o = { ['f (main.js:77:1)\\n    at g (main.js:88:1)']() { null.x } };\no[Object.keys(o)[0]]()", status: jsRaises, errorType: "TypeError", line: 3, reaches: "on"},
	{name: "a limit of stacks that spins", code: "console.log('on'); Object.defineProperty(Error, 'stackTraceLimit', { get() { for (;;); } });\nthrow new Error('y')", status: jsRaises, errorType: "Error", line: 2, reaches: "on"},
	{name: "an error in code from eval", code: "console.log('on');\neval('\\n\\n\\nnull.x //# sourceURL=main.js')", status: jsRaises, errorType: "TypeError", line: 2, reaches: "on"},
	{name: "running out of memory that is made up", code: `console.log("on"); throw new InternalError("out of memory")`, status: jsRaises, errorType: "InternalError", reaches: "on"},
	{name: "an exception of the web", code: `console.log("on"); atob("%")`, status: jsRaises, errorType: "InvalidCharacterError", reaches: "on"},

	// console is shown what is hostile, and never asks it.
	{name: "console of what answers nothing", code: `class A { get [Symbol.toStringTag]() { for (;;); } get x() { for (;;); } toString() { for (;;); } [Symbol.toPrimitive]() { for (;;); } toJSON() { for (;;); } } const a = new A(); console.log(a, [a], "%s"); console.log("%s %d %o %i %f %O", a, a, a, a, a, a); console.table([a]); console.dir(a); console.log("on"); 1`, limits: sandbox.Limits{Timeout: 20 * time.Second}, status: jsOK, value: "1", reaches: "on"},
	{name: "console of what has no end", code: `let x = {}; for (let i = 0; i < 1e5; i++) x = { x }; console.log(x); const m = new Map(); m.set(m, m); console.log(m); const e = new Error("a"); e.cause = e; console.log(e); console.log("on"); 1`, status: jsOK, value: "1", reaches: "on"},

	// Text and names.
	{name: "halves of surrogate pairs", code: `console.log("on \ud800", { "\udc00": "\ud800" }); ["\ud800", "\udc00x", "a\ud800\udc00b", "\\ud800"]`, status: jsOK, value: "[{\"$str\":\"\\\\ud800\"},{\"$str\":\"\\\\udc00x\"},\"a\U00010000b\",\"\\\\ud800\"]", reaches: "on"},
	{name: "half of a pair as a name", code: `console.log("on"); ({ "\ud800": 1 })`, status: jsRaises, errorType: "ConversionError", reaches: "on"},
	{name: "NUL in names and in text", code: `console.log("on\0"); ({ "a\0b": "c\0d", "\0": 1 })`, status: jsOK, value: `{"a\u0000b":"c\u0000d","\u0000":1}`, reaches: "on"},
	{name: "modules of other names", code: `console.log("on"); const r = []; for (const n of ["", "a\0b", "mayfly\0x", "./mayfly", "file:///etc/passwd", "\ud800", "x".repeat(1e6), "node:fs"]) try { r.push(await import(n)) } catch (e) { r.push(e.name) } r`, status: jsOK, value: `["ReferenceError","ReferenceError","ReferenceError","ReferenceError","ReferenceError","ReferenceError","ReferenceError","ReferenceError"]`, reaches: "on"},

	// Recursion in the parser, one way for each kind of thing that nests.
	{name: "recursion in the parser", code: `console.log("on"); const n = 1e5, r = new Set(); for (const s of ["(", "[", "\u0060\${", "!", "1?", "new ", "{", "class A extends ", "if(1)", "2**", "q=", "x=>", "(x)=>", "async x=>", "f(", "a[", "({a:", "let [", "let {a:", "for(;;)", "try{", "do ", "with(1)", "typeof ", "await ", "...", "(function(){", "class A{[", "case "]) try { (0, eval)(s.repeat(n)) } catch (e) { r.add(e.name) } [...r].sort()`, status: jsOK, value: `["RangeError","SyntaxError"]`, reaches: "on"},
	{name: "recursion in a set of a regular expression", code: `console.log("on"); const r = []; for (const [s, f] of [["[".repeat(1e5) + "]".repeat(1e5), "v"], ["(?=".repeat(1e5) + ")".repeat(1e5), ""], ["(?<!".repeat(1e5) + ")".repeat(1e5), ""]]) try { new RegExp(s, f).test("a"); r.push("ran") } catch (e) { r.push(e.name) } r.length`, limits: sandbox.Limits{Timeout: 20 * time.Second}, status: append(slices.Clone(jsOK), jsMemory...), reaches: "on"},
	{name: "recursion through a reviver and a clone", code: `console.log("on"); const r = []; let x = []; for (let i = 0; i < 1e5; i++) x = [x]; for (const f of [() => JSON.parse("[".repeat(5e4) + "]".repeat(5e4), (k, v) => v), () => structuredClone(x), () => String(x), () => { const o = { [Symbol.toPrimitive]() { return +o } }; return +o }]) try { f(); r.push("ran") } catch (e) { r.push(e.name) } r`, status: jsOK, value: `["RangeError","RangeError","RangeError","RangeError"]`, reaches: "on"},

	// Ends that do not come.
	{name: "an await that nothing settles", code: `console.log("on"); async function* g() { await new Promise(() => {}) } for await (const x of g());`, status: jsRaises, errorType: "Error", reaches: "on"},
	{name: "closing an iterator that never closes", code: `console.log("on"); const [a] = { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return() { for (;;); } }) }; a`, limits: jsShort, status: jsTimeout, reaches: "on"},
	{name: "finally that takes back what ends it", code: `console.log("on"); function* g() { for (;;) try { yield 1 } finally { continue } } for (const x of g()) break; 1`, status: jsOK, value: "1", reaches: "on"},
	{name: "waiting for shared memory", code: `console.log("on"); typeof Atomics === "undefined" ? "none" : Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`, limits: jsShort, status: append(slices.Clone(jsOK), jsTimeout...), reaches: "on"},
	{name: "a comparator that detaches what is sorted", code: `console.log("on"); const f = new Float64Array(1e4).map(() => Math.random()); f.sort((a, b) => { f.buffer.transfer?.(); return a - b }); const a = Array.from({ length: 1000 }, (_, i) => i); a.sort((x, y) => { a.length = 0; a.push(1); return x - y }); [f.length, a]`, status: append(slices.Clone(jsOK), jsRaises...), reaches: "on"},

	// Keys that are numbers or objects do not collide: with chains this takes a
	// hundred times the fuel.
	{name: "numbers as keys", code: `console.log("on"); const s = new Set(), m = new Map(); for (let i = 0; i < 50000; i++) { s.add(i); s.add(i / 2); s.add(-i); m.set(1.7e12 + i * 1000, i) } [s.size, m.size]`, limits: sandbox.Limits{MaxFuel: 12_000_000}, status: jsOK, value: `[124999,50000]`, reaches: "on"},
	{name: "objects as keys", code: `console.log("on"); const all = Array.from({ length: 20000 }, (_, i) => ({ i })), m = new Map(all.map((o) => [o, o.i])); let n = 0; for (let k = 0; k < 3; k++) for (const o of all) n += m.get(o) === o.i; n`, limits: sandbox.Limits{MaxFuel: 5_000_000}, status: jsOK, value: `60000`, reaches: "on"},

	{name: "a flood by way of console.table", code: `console.log("on"); const rows = Array.from({ length: 1000 }, (_, i) => ({ i })); for (;;) console.table(rows)`, status: []sandbox.Status{sandbox.StatusOutputLimit}, reaches: "on"},
	{name: "a value beyond its limit", code: `console.log("on"); Array(100000).fill("0123456789")`, limits: sandbox.Limits{MaxValue: 1000}, status: []sandbox.Status{sandbox.StatusOutputLimit}, reaches: "on"},
}

// TestAttacks: each ends as it must, and the next call is answered.
func TestAttacks(t *testing.T) {
	box := javaScript(t)
	for _, a := range jsAttacks {
		t.Run("js/"+a.name, func(t *testing.T) {
			if a.limits.Timeout == 0 {
				a.limits.Timeout = time.Minute // for a machine that is busy
			}
			r, err := box.Run(t.Context(), sandbox.Spec{Code: a.code, Globals: a.globals, Limits: a.limits})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(r.Stdout), a.reaches) {
				t.Errorf("the attack did not begin: stdout %.200q", r.Stdout)
			}
			if !slices.Contains(a.status, r.Status) {
				t.Fatalf("status %q, want %q; value %.300s, error %+v", r.Status, a.status, r.Value, r.Error)
			}
			if a.value != "" && string(r.Value) != a.value {
				t.Errorf("value %.300s, want %s", r.Value, a.value)
			}
			if a.errorType != "" && r.Error.Type != a.errorType {
				t.Errorf("error %+v, want a %s", r.Error, a.errorType)
			}
			if a.line != 0 && r.Error.Line != a.line {
				t.Errorf("error %+v, want it in line %d", r.Error, a.line)
			}
			sandboxtest.CheckAlive(t, box)
		})
	}
}
