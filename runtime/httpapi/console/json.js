// JSON read and written without loss. JSON.parse rounds what a double cannot hold,
// and an approver, or whoever reads a result, must see what is there.

// Exact is a number that JavaScript would write in another way than it was
// written: too many digits, 1.0, 1e3.
export class Exact {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
  valueOf() { return Number(this.text); }
}

// members has the names and values of objects that would have them in another
// order, or would lose one that is there twice.
const members = new WeakMap();

// entries gives the members of an object as they were written.
export const entries = (object) => members.get(object) ?? Object.entries(object);

export const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && !(v instanceof Exact);
export const isNumber = (v) => typeof v === "number" || v instanceof Exact;

const index = /^\d/; // names that objects may put first
const maxDepth = 1000; // more than any server sends, less than the stack holds

// Wrong says what of a text is no JSON, and where.
export class Wrong extends Error {
  constructor(text, at, what) {
    const before = text.slice(0, at).split("\n");
    super(`line ${before.length}, column ${before.at(-1).length + 1}: ${what}`);
  }
}

// read gives the value of a text. Ask for a name that is not known beforehand with
// Object.hasOwn: objects are plain ones.
export function read(text) {
  const space = /[ \t\n\r]*/y, number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  let at = 0, depth = 0;
  const wrong = (what) => new Wrong(text, Math.min(at, text.length), what);
  const skip = () => {
    if (text.charCodeAt(at) > 32) return; // as most often
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
  };

  function string() {
    let end = at;
    for (let slashes = 1; slashes % 2 === 1;) {
      if ((end = text.indexOf('"', end + 1)) < 0) throw wrong("the string does not end");
      for (slashes = 0; text[end - 1 - slashes] === "\\";) slashes++;
    }
    const raw = text.slice(at, end + 1);
    let value = raw.slice(1, -1);
    if (/[\\\u0000-\u001f]/.test(value)) {
      try { value = JSON.parse(raw); } catch { throw wrong("this is no string: a control character or an escape in it is wrong"); }
    }
    at = end + 1;
    return value;
  }

  // list reads what is between brackets, separated by commas.
  function list(close, each) {
    if (++depth > maxDepth) throw wrong("it nests too deep");
    at++;
    skip();
    for (let first = true; text[at] !== close; first = false) {
      if (!first) {
        if (text[at] !== ",") throw wrong(`a comma or ${close} is missing`);
        at++;
        skip();
      }
      each();
      skip();
    }
    at++;
    depth--;
  }

  function object() {
    const all = [], o = {};
    let odd = false;
    list("}", () => {
      if (text[at] !== '"') throw wrong("a name in double quotes is missing");
      const name = string();
      skip();
      if (text[at] !== ":") throw wrong("a colon is missing");
      at++;
      const v = value();
      if (odd ||= name === "__proto__" || index.test(name) || Object.hasOwn(o, name)) Object.defineProperty(o, name, { value: v, enumerable: true, configurable: true, writable: true });
      else o[name] = v;
      all.push(name, v);
    });
    if (odd) members.set(o, Array.from({ length: all.length / 2 }, (_, i) => [all[2 * i], all[2 * i + 1]]));
    return o;
  }

  function value() {
    skip();
    const c = text[at];
    if (c === "{") return object();
    if (c === "[") {
      const items = [];
      list("]", () => items.push(value()));
      return items;
    }
    if (c === '"') return string();
    if (c === "t" || c === "f" || c === "n") {
      const word = c === "t" ? "true" : c === "f" ? "false" : "null";
      if (!text.startsWith(word, at)) throw wrong("a value is missing");
      at += word.length;
      return c === "n" ? null : c === "t";
    }
    number.lastIndex = at;
    const digits = number.exec(text)?.[0];
    if (digits === undefined) throw wrong("a value is missing");
    at += digits.length;
    const n = Number(digits);
    return String(n) === digits ? n : new Exact(digits);
  }

  const v = value();
  skip();
  if (at < text.length) throw wrong("there is more after the value");
  return v;
}

// write lays a value out, a line for each member; on one line if indent is null.
export function write(value, indent = "") {
  const out = [];
  put(out, value, indent);
  return out.join("");
}

function put(out, value, indent) {
  if (value instanceof Exact) return out.push(value.text);
  if (value === null || typeof value !== "object") return out.push(JSON.stringify(value));
  const list = Array.isArray(value), all = list ? value : entries(value);
  const deeper = indent === null ? null : indent + "  ";
  out.push(list ? "[" : "{");
  all.forEach((member, i) => {
    if (i) out.push(indent === null ? ", " : ",");
    if (indent !== null) out.push("\n", deeper);
    if (!list) out.push(JSON.stringify(member[0]), ": ");
    put(out, list ? member : member[1], deeper);
  });
  if (all.length && indent !== null) out.push("\n", indent);
  out.push(list ? "]" : "}");
}
