// Gives (format, inspect): values as people want to read them, in the manner
// that Node.js has made usual. An expression; boot.c calls it with the shim's
// functions.
//
// It never runs code of a value's own: getters are named, not called, and a
// Proxy is not asked. The exception is %j, which is JSON.stringify.
(host) => {
const OBJECT = 0, ARRAY = 1, BOXED = 2, DATE = 3, MAP = 4, SET = 5, BYTES = 6, NUMBERS = 7, FUNCTION = 8, REGEXP = 9,
  ERROR = 10, PROMISE = 11, PROXY = 12, SYMBOL = 14;

// Everything as it was before user code could replace it.
const { kind, entries, promise, stack, unbox, domText } = host;
const { apply, ownKeys, getPrototypeOf, setPrototypeOf, getOwnPropertyDescriptor: ownDescriptor } = Reflect;
const { is } = Object;
const text = String, number = Number;
const take = (method) => (self, ...args) => apply(method, self, args);
const join = take(Array.prototype.join), push = take(Array.prototype.push), indexOf = take(Array.prototype.indexOf);
const slice = take(String.prototype.slice), includes = take(String.prototype.includes);
const repeat = take(String.prototype.repeat), charCodeAt = take(String.prototype.charCodeAt);
const hex = take(Number.prototype.toString), padStart = take(String.prototype.padStart);
const startsWith = take(String.prototype.startsWith), find = take(String.prototype.indexOf);
const symbolText = take(Symbol.prototype.toString), dateText = take(Date.prototype.toISOString);
const regexpText = take(ownDescriptor(RegExp.prototype, "source").get);
const regexpFlags = take(ownDescriptor(RegExp.prototype, "flags").get);
const isArray = Array.isArray, trunc = Math.trunc, stringify = JSON.stringify, parseNumber = Number.parseFloat;
const tag = Symbol.toStringTag;

const WIDTH = 76, MAX_ITEMS = 100, MAX_TEXT = 10000;

// Without a prototype, which would answer for what a descriptor does not have.
// Regular expressions are not used here, as their methods can be replaced.
function descriptor(object, key) {
  const found = ownDescriptor(object, key);
  if (found !== undefined) setPrototypeOf(found, null);
  return found;
}

function split(s, by) {
  const parts = [];
  for (let from = 0; ;) {
    const at = find(s, by, from);
    if (at < 0) {
      push(parts, slice(s, from, s.length));
      return parts;
    }
    push(parts, slice(s, from, at));
    from = at + by.length;
  }
}

// A data property of an object or of what it inherits from.
function peek(object, key) {
  for (let i = 0; object !== null && i < 64 && kind(object) !== PROXY; i++) {
    const found = descriptor(object, key);
    if (found !== undefined) return found.value;
    object = getPrototypeOf(object);
  }
  return undefined;
}

function className(object) {
  if (getPrototypeOf(object) === null) return null;
  const maker = peek(object, "constructor");
  if (typeof maker !== "function") return "";
  const name = kind(maker) === PROXY ? "" : peek(maker, "name");
  return typeof name === "string" ? name : "";
}

const ESCAPES = { __proto__: null, "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f", "\v": "\\v", "\\": "\\\\" };
function escape(c) {
  return ESCAPES[c] ?? "\\x" + padStart(hex(charCodeAt(c, 0), 16), 2, "0");
}

function quote(s) {
  const mark = !includes(s, "'") ? "'" : !includes(s, '"') ? '"' : !includes(s, "`") ? "`" : "'";
  let out = mark, from = 0;
  for (let i = 0; i < s.length; i++) {
    const c = charCodeAt(s, i);
    if (c >= 0x20 && c < 0x7f && c !== 0x5c && s[i] !== mark || c > 0x9f) continue;
    out += slice(s, from, i) + (s[i] === mark ? "\\" + mark : escape(s[i]));
    from = i + 1;
  }
  return out + slice(s, from, s.length) + mark;
}

function primitive(v) {
  switch (typeof v) {
    case "string": return v.length > MAX_TEXT ? `${quote(slice(v, 0, MAX_TEXT))}... ${v.length - MAX_TEXT} more characters` : quote(v);
    case "number": return is(v, -0) ? "-0" : text(v);
    case "bigint": return text(v) + "n";
    case "symbol": return symbolText(v);
    default: return text(v);
  }
}

function keyText(key) {
  if (typeof key === "symbol") return `[${symbolText(key)}]`;
  for (let i = 0; i < key.length; i++) {
    const c = charCodeAt(key, i);
    const letter = c >= 97 && c <= 122 || c >= 65 && c <= 90 || c === 95 || c === 36;
    if (!letter && (i === 0 || c < 48 || c > 57)) return quote(key);
  }
  return key === "" ? quote(key) : key;
}

function property(seen, object, key, depth, limit, indent) {
  const found = descriptor(object, key);
  let value;
  if (found === undefined) value = "undefined";
  else if (found.get !== undefined) value = found.set !== undefined ? "[Getter/Setter]" : "[Getter]";
  else if (found.set !== undefined) value = "[Setter]";
  else value = show(seen, found.value, depth + 1, limit, indent + 2);
  return found !== undefined && !found.enumerable ? `[${keyText(key)}]: ${value}` : `${keyText(key)}: ${value}`;
}

function isIndex(key) {
  return typeof key === "string" && text(key >>> 0) === key;
}

// Puts parts between brackets: on one line if they are few and short and do not
// nest deeply, else on a line each; long lists of short things share lines.
function layout(parts, open, close, indent, depth, flat) {
  if (parts.length === 0) return open + close;
  let total = parts.length + indent + open.length + 10, widest = 0, broken = false;
  for (let i = 0; i < parts.length; i++) {
    total += parts[i].length;
    if (parts[i].length > widest) widest = parts[i].length;
    broken ||= includes(parts[i], "\n");
  }
  const pad = "\n" + repeat(" ", indent + 2);
  if (flat && parts.length > 6 && widest <= 16 && !broken && total > WIDTH) {
    let lines = "", line = "";
    for (let i = 0; i < parts.length; i++) {
      const part = i + 1 < parts.length ? parts[i] + "," : parts[i];
      if (line !== "" && line.length + part.length + 1 > WIDTH - indent) {
        lines += pad + line;
        line = "";
      }
      line += line === "" ? part : " " + part;
    }
    return `${open}${lines}${pad}${line}\n${repeat(" ", indent)}${close}`;
  }
  if (!broken && total <= WIDTH + 4 && (parts.length <= 6 || !flat || widest <= 16)) return `${open} ${join(parts, ", ")} ${close}`;
  return `${open}${pad}${join(parts, "," + pad)}\n${repeat(" ", indent)}${close}`;
}

function more(parts, left) {
  if (left > 0) push(parts, `... ${left} more item${left > 1 ? "s" : ""}`);
}

function items(seen, list, width, depth, limit, indent) {
  const parts = [];
  for (let i = 0; i < list.length && i < MAX_ITEMS * width; i += width) {
    let part = show(seen, list[i], depth + 1, limit, indent + 2);
    if (width === 2) part += " => " + show(seen, list[i + 1], depth + 1, limit, indent + 2);
    push(parts, part);
  }
  more(parts, list.length / width - MAX_ITEMS);
  return parts;
}

function elements(seen, array, depth, limit, indent) {
  const parts = [];
  const length = descriptor(array, "length")?.value ?? 0;
  let i = 0;
  for (; i < length && parts.length < MAX_ITEMS;) {
    let holes = 0;
    while (i < length && holes < 1e6 && descriptor(array, i) === undefined) holes++, i++;
    if (holes === 1e6) holes += length - i, i = length;
    if (holes > 0) {
      push(parts, `<${holes} empty item${holes > 1 ? "s" : ""}>`);
      continue;
    }
    const found = descriptor(array, i++);
    push(parts, "value" in found ? show(seen, found.value, depth + 1, limit, indent + 2) : found.set ? "[Getter/Setter]" : "[Getter]");
  }
  more(parts, length - i);
  return parts;
}

function errorText(error) {
  const name = domText(error, "name") ?? peek(error, "name"), message = domText(error, "message") ?? peek(error, "message"), maker = className(error);
  let head = typeof name === "string" && (name !== "Error" || !maker) ? name : maker || "Error";
  if (typeof message === "string" && message !== "") head += `: ${message}`;
  const frames = stack(error);
  let lines = "";
  if (typeof frames === "string") {
    const all = split(frames, "\n");
    for (let i = 0; i < all.length; i++) {
      if (all[i] !== "" && !includes(all[i], "(native)") && !includes(all[i], "(mayfly:") && !includes(all[i], "(missing)")) {
        const at = find(all[i], "at <eval> (");
        lines += "\n" + (at < 0 ? all[i] : slice(all[i], 0, at) + "at " + slice(all[i], at + 11, all[i].length - 1));
      }
    }
  }
  return head + lines;
}

function show(seen, value, depth, limit, indent) {
  const what = kind(value);
  if (what < 0) return primitive(value);
  if (what === PROXY) return typeof value === "function" ? "[Function (Proxy)]" : "[Proxy]";
  if (indexOf(seen, value) >= 0) return "[Circular *1]";
  const name = className(value);
  const label = name === null ? "[Object: null prototype] " : "";
  const keys = [];
  let head = "", open = "{", close = "}", parts = null, flat = false, skipIndices = false;
  switch (what) {
    case ARRAY: case NUMBERS: case BYTES: {
      const length = peek(value, "length");
      if (what === ARRAY) {
        if (name !== "Array") head = isArray(value) ? `${name || "[Array: null prototype]"}(${length}) ` : "[Arguments] ";
      } else head = `${name} `;
      if (what === BYTES && descriptor(value, "0") === undefined && !startsWith(name ?? "", "Uint8")) {
        return `${name} {}`;
      }
      open = "["; close = "]"; flat = skipIndices = true;
      if (depth > limit) return head === "" ? "[Array]" : `[${name}]`;
      break;
    }
    case MAP: head = `${name || "Map"}(${entries(value).length / 2}) `; break;
    case SET: head = `${name || "Set"}(${entries(value).length}) `; break;
    case BOXED: {
      const inner = unbox(value);
      head = `[${name || "Object"}: ${primitive(inner)}]`;
      skipIndices = typeof inner === "string";
      break;
    }
    case SYMBOL: head = `[Symbol: ${primitive(unbox(value))}]`; break;
    case DATE: {
      const time = unbox(value);
      head = time === time ? dateText(value) : "Invalid Date";
      break;
    }
    case FUNCTION: {
      const own = peek(value, "name");
      const isClass = startsWith(sourceOf(value), "class");
      const of = typeof own === "string" && own !== "" ? own : "";
      const plain = name === "Function" || !name ? "Function" : name;
      head = isClass ? `[class ${of || "(anonymous)"}${parentOf(value)}]` : of ? `[${plain}: ${of}]` : `[${plain} (anonymous)]`;
      break;
    }
    case REGEXP: head = `/${regexpText(value)}/${regexpFlags(value)}`; break;
    case ERROR: head = errorText(value); break;
    case PROMISE: head = "Promise "; break;
    default: {
      const own = peek(value, tag);
      head = name === "Object" ? "" : name === null ? label : name ? `${name} ` : "";
      if (typeof own === "string" && own !== "" && own !== name) head = head === "" ? `Object [${own}] ` : `${head}[${own}] `;
    }
  }
  const all = ownKeys(value);
  for (let i = 0; i < all.length; i++) {
    const key = all[i];
    if (skipIndices && isIndex(key)) continue;
    if (what === ERROR ? key === "cause" || key === "errors" || enumerable(value, key) && key !== "message" && key !== "stack" && key !== "name" : enumerable(value, key)) push(keys, key);
  }
  const bare = what === BOXED || what === DATE || what === FUNCTION || what === REGEXP || what === ERROR || what === SYMBOL;
  if (bare && keys.length === 0) return what === ERROR && depth > 0 ? `[${errorHead(head)}]` : head;
  if (depth > limit) return what === ERROR ? head : `[${name || (name === null ? "Object: null prototype" : "Object")}]`;
  push(seen, value);
  switch (what) {
    case ARRAY: case NUMBERS: case BYTES: parts = elements(seen, value, depth, limit, indent); break;
    case MAP: parts = items(seen, entries(value), 2, depth, limit, indent); break;
    case SET: parts = items(seen, entries(value), 1, depth, limit, indent); break;
    case PROMISE: {
      const state = promise(value);
      parts = [state[0] === 0 ? "<pending>" : state[0] === 2 ? `<rejected> ${show(seen, state[1], depth + 1, limit, indent + 2)}` : show(seen, state[1], depth + 1, limit, indent + 2)];
      break;
    }
    default: parts = [];
  }
  for (let i = 0; i < keys.length && i < 1000; i++) push(parts, property(seen, value, keys[i], depth, limit, indent));
  more(parts, keys.length - 1000);
  seen.length--;
  if (bare) head += " ";
  return head + layout(parts, open, close, indent, depth, flat && keys.length === 0);
}

const functionText = take(Function.prototype.toString);
function sourceOf(f) {
  return functionText(f);
}
function parentOf(f) {
  const parent = getPrototypeOf(f);
  if (parent === null || kind(parent) !== FUNCTION) return "";
  const name = peek(parent, "name");
  return typeof name === "string" && name !== "" ? ` extends ${name}` : "";
}
function enumerable(object, key) {
  return descriptor(object, key)?.enumerable === true;
}
function errorHead(full) {
  return split(full, "\n")[0];
}

function inspect(value, limit = 2) {
  return show([], value, 0, limit, 0);
}

function conversion(letter, value) {
  switch (letter) {
    case "s": return typeof value === "string" ? value : kind(value) >= 0 ? inspect(value, 0) : primitive(value);
    case "d": case "i": {
      if (kind(value) >= 0 || typeof value === "symbol") return "NaN";
      if (typeof value === "bigint") return `${value}n`;
      const n = letter === "i" ? trunc(parseNumber(value)) : number(value);
      return is(n, -0) ? "-0" : text(n);
    }
    case "f": return kind(value) >= 0 || typeof value === "symbol" ? "NaN" : text(parseNumber(value));
    case "j": {
      try {
        return text(stringify(value));
      } catch {
        return "[no JSON]";
      }
    }
    case "o": return inspect(value, 4);
    case "O": return inspect(value);
    default: return "";
  }
}

// The arguments of console.log as one text.
function format(args) {
  if (args.length === 1 && typeof args[0] === "string") return args[0];
  let out = "", from = 0;
  if (args.length > 1 && typeof args[0] === "string") {
    const pattern = args[0];
    from = 1;
    let last = 0;
    for (let i = 0; i + 1 < pattern.length; i++) {
      if (pattern[i] !== "%") continue;
      const letter = pattern[i + 1];
      if (letter === "%") {
        out += slice(pattern, last, i + 1);
      } else if (from < args.length && includes("sdifjoOc", letter)) {
        out += slice(pattern, last, i) + conversion(letter, args[from++]);
      } else continue;
      last = i + 2;
      i++;
    }
    out += slice(pattern, last, pattern.length);
    if (from < args.length) out += " ";
  }
  for (let i = from; i < args.length; i++) {
    if (i > from) out += " ";
    out += typeof args[i] === "string" ? args[i] : inspect(args[i]);
  }
  return out;
}

return { __proto__: null, format, inspect };
}
