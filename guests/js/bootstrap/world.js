// The rest of what code finds around it: a few things that every JavaScript
// host has, and doors that lead nowhere, each with a sign. Gives what the module
// "mayfly" exports. An expression; boot.c calls it with the shim's functions.
(host) => {
const { now, call, artifact: handBack, granted, fill, kind, entries, unbox, encode, decode } = host;
const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys, getPrototypeOf, setPrototypeOf } = Reflect;
const take = (method) => (self, ...args) => apply(method, self, args);
const charCodeAt = take(String.prototype.charCodeAt), parse = JSON.parse, big = BigInt, safe = Number.isSafeInteger;
const resolved = Promise.resolve(), then = take(Promise.prototype.then);
const hex = take(Number.prototype.toString), padStart = take(String.prototype.padStart), slice = take(String.prototype.slice);
const text = String;

function define(name, value) {
  defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

class ToolError extends Error {
  static {
    defineProperty(this.prototype, "name", { __proto__: null, value: "ToolError", writable: true, enumerable: false, configurable: true });
  }
}

// Integers that a Number cannot hold are kept as BigInt.
function exact(key, value, context) {
  if (typeof value !== "number" || safe(value)) return value;
  const source = context.source;
  for (let i = 0; i < source.length; i++) {
    const c = charCodeAt(source, i);
    if ((c < 48 || c > 57) && !(i === 0 && c === 45)) return value;
  }
  return big(source);
}

function read(json) {
  let digits = 0;
  for (let i = 0; i < json.length; i++) {
    const c = charCodeAt(json, i);
    digits = c >= 48 && c <= 57 ? digits + 1 : 0;
    if (digits === 16) return parse(json, exact);
  }
  return parse(json);
}

// Calls a tool of the host and gives its result. The arguments must have a JSON
// form, as a result must.
function callTool(name, args = {}) {
  if (!granted()) throw new TypeError("this call may not call host tools");
  if (typeof name !== "string") throw new TypeError("the name of a tool is a string");
  if (kind(args) < 0) throw new TypeError("the arguments of a tool are an object of names and values");
  const result = call(name, args);
  if (!result[0]) throw new ToolError(result[1]);
  return read(result[1]);
}

// Hands content, a string or bytes, back as a file called name.
function artifact(name, content) {
  if (typeof name !== "string") throw new TypeError("the name of an artifact is a string");
  let plain = name.length > 0 && charCodeAt(name, 0) !== 46;
  for (let i = 0; i < name.length; i++) {
    const c = charCodeAt(name, i);
    if (c === 47 || c === 0) plain = false;
  }
  if (!plain) throw new RangeError("the name of an artifact is a plain file name: no slash, and no dot at its start");
  handBack(name, content);
}

const mayfly = { artifact, callTool, ToolError };
define("mayfly", mayfly);

define("queueMicrotask", function queueMicrotask(callback) {
  if (typeof callback !== "function") throw new TypeError("queueMicrotask needs a function to call");
  then(resolved, () => { callback(); });
});
const later = setTimeout, cancel = clearTimeout;
define("setTimeout", later);
define("setInterval", setInterval);
define("clearTimeout", cancel);
define("clearInterval", cancel);
define("setImmediate", function setImmediate(callback, ...args) { return later(callback, 0, ...args); });
define("clearImmediate", function clearImmediate(id) { cancel(id); });

define("performance", { now() { return now(); } });

define("crypto", {
  getRandomValues(array) {
    if (!(kind(array) === 6 || kind(array) === 7) || array.buffer === undefined) throw new TypeError("getRandomValues needs a typed array of integers");
    fill(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return array;
  },
  randomUUID() {
    const bytes = new Uint8Array(16);
    fill(bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let id = "";
    for (let i = 0; i < 16; i++) id += (i === 4 || i === 6 || i === 8 || i === 10 ? "-" : "") + padStart(hex(bytes[i], 16), 2, "0");
    return id;
  },
});

class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return encode(`${text}`); }
}
class TextDecoder {
  #fatal;
  constructor(label = "utf-8", { fatal = false } = {}) {
    if (label !== "utf-8" && label !== "utf8" && label !== "UTF-8") throw new RangeError("TextDecoder knows utf-8 only");
    this.#fatal = Boolean(fatal);
  }
  get encoding() { return "utf-8"; }
  get fatal() { return this.#fatal; }
  decode(bytes) {
    if (bytes === undefined) return "";
    const decoded = decode(bytes);
    if (this.#fatal) {
      const again = encode(decoded), view = bytes instanceof Bytes ? bytes : new Bytes(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength);
      let same = again.length === view.length;
      for (let i = 0; same && i < again.length; i++) same = again[i] === view[i];
      if (!same) throw new TypeError("the bytes are not valid UTF-8");
    }
    return charCodeAt(decoded, 0) === 0xfeff ? slice(decoded, 1, decoded.length) : decoded;
  }
}
const Bytes = Uint8Array;
define("TextEncoder", TextEncoder);
define("TextDecoder", TextDecoder);

// structuredClone, for what is data. Prototypes of classes and getters are lost,
// as they are everywhere.
const OBJECT = 0, ARRAY = 1, BOXED = 2, DATE = 3, MAP = 4, SET = 5, BYTES = 6, NUMBERS = 7, REGEXP = 9, ERROR = 10;
const copyBuffer = take(ArrayBuffer.prototype.slice), mapGet = take(Map.prototype.get), mapSet = take(Map.prototype.set);
const setAdd = take(Set.prototype.add), D = Date, M = Map, S = Set, E = Error, R = RegExp, O = Object;
function clone(value, seen) {
  const what = kind(value);
  if (what < 0) {
    if (typeof value === "symbol") throw new TypeError("a symbol cannot be cloned");
    return value;
  }
  const before = mapGet(seen, value);
  if (before !== undefined) return before;
  let copy;
  switch (what) {
    case BOXED: return O(unbox(value));
    case DATE: return new D(unbox(value));
    case REGEXP: return new R(value.source, value.flags);
    case BYTES: case NUMBERS:
      if (value.buffer === undefined) {
        copy = copyBuffer(value, 0);
        mapSet(seen, value, copy);
        return copy;
      }
      copy = new value.constructor(clone(value.buffer, seen), value.byteOffset, value.length ?? value.byteLength);
      mapSet(seen, value, copy);
      return copy;
    case MAP: case SET: {
      copy = what === MAP ? new M() : new S();
      mapSet(seen, value, copy);
      const all = entries(value);
      if (what === MAP) for (let i = 0; i < all.length; i += 2) mapSet(copy, clone(all[i], seen), clone(all[i + 1], seen));
      else for (let i = 0; i < all.length; i++) setAdd(copy, clone(all[i], seen));
      return copy;
    }
    case ERROR: copy = new E(value.message); break;
    case ARRAY: copy = []; copy.length = value.length; break;
    case OBJECT: copy = {}; break;
    default: throw new TypeError("functions, proxies, promises and iterators cannot be cloned");
  }
  mapSet(seen, value, copy);
  const keys = what === ERROR ? ["name", "cause"] : ownKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const found = getOwnPropertyDescriptor(value, keys[i]);
    if (typeof keys[i] === "symbol" || found === undefined || !found.enumerable && what !== ERROR || what === ARRAY && keys[i] === "length") continue;
    defineProperty(copy, keys[i], { __proto__: null, value: clone(value[keys[i]], seen), writable: true, enumerable: what !== ERROR, configurable: true });
  }
  return copy;
}
define("structuredClone", function structuredClone(value) { return clone(value, new M()); });

// A door: what it would do cannot be done here, and the sign says so.
function door(name, sentence) {
  define(name, { [name]() { throw new Error(sentence); } }[name]);
}
const NETWORK = "there is no network here; everything a program needs must be in its arguments";
door("fetch", NETWORK);
door("XMLHttpRequest", NETWORK);
door("WebSocket", NETWORK);
define("require", function require(name) {
  throw new Error(`cannot find module '${slice(text(name), 0, 200)}': there are no modules here but 'mayfly'; what a program needs must be in it or in its arguments`);
});
return mayfly;
}
