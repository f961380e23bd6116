// Installs console. An expression; boot.c calls it with the shim's functions
// and what inspect.js gives. Each line is written at once, so that a call that
// is stopped loses none.
(host, { format, inspect }) => {
const { write, now, kind } = host;
const { apply, ownKeys, setPrototypeOf, getOwnPropertyDescriptor } = Reflect;
const take = (method) => (self, ...args) => apply(method, self, args);
const join = take(Array.prototype.join), push = take(Array.prototype.push), indexOf = take(Array.prototype.indexOf);
const find = take(String.prototype.indexOf), padEnd = take(String.prototype.padEnd), repeat = take(String.prototype.repeat);
const slice = take(String.prototype.slice), fixed = take(Number.prototype.toFixed);
const text = String;
const OUT = 1, ERR = 2;

let indent = "";
const counts = { __proto__: null }, timers = { __proto__: null };

function line(descriptor, message) {
  if (indent !== "") {
    let out = indent, from = 0;
    for (let at; (at = find(message, "\n", from)) >= 0; from = at + 1) out += slice(message, from, at + 1) + indent;
    message = out + slice(message, from, message.length);
  }
  write(descriptor, message + "\n");
}

function elapsed(label) {
  const ms = now() - timers[label];
  return ms >= 1000 ? `${label}: ${fixed(ms / 1000, 3)}s` : `${label}: ${fixed(ms, 3)}ms`;
}

function descriptor(object, key) {
  const found = getOwnPropertyDescriptor(object, key);
  if (found !== undefined) setPrototypeOf(found, null);
  return found;
}

function value(object, key) {
  return descriptor(object, key)?.value;
}

function keysOf(object) {
  const keys = [], all = ownKeys(object);
  for (let i = 0; i < all.length; i++) {
    if (typeof all[i] === "string" && descriptor(object, all[i]).enumerable) push(keys, all[i]);
  }
  return keys;
}

const ARRAY = 1;
function isData(v) {
  const what = kind(v);
  return what === 0 || what === ARRAY;
}

function table(data) {
  if (!isData(data)) return format([data]);
  const rows = keysOf(data), columns = ["(index)"], cells = [];
  let values = false;
  for (let i = 0; i < rows.length; i++) {
    const row = value(data, rows[i]);
    if (!isData(row)) {
      values = true;
      continue;
    }
    const keys = keysOf(row);
    for (let k = 0; k < keys.length; k++) if (indexOf(columns, keys[k]) < 0) push(columns, keys[k]);
  }
  if (values) push(columns, "Values");
  for (let i = 0; i < rows.length; i++) {
    const row = value(data, rows[i]), line = [rows[i]];
    for (let k = 1; k < columns.length; k++) {
      let cell = "";
      if (values && k === columns.length - 1) cell = isData(row) ? "" : inspect(row, 0);
      else if (isData(row) && descriptor(row, columns[k]) !== undefined) cell = inspect(value(row, columns[k]), 0);
      push(line, cell);
    }
    push(cells, line);
  }
  const widths = [];
  for (let k = 0; k < columns.length; k++) {
    let width = columns[k].length;
    for (let i = 0; i < cells.length; i++) if (cells[i][k].length > width) width = cells[i][k].length;
    push(widths, width + 2);
  }
  const rule = (left, middle, right) => {
    const parts = [];
    for (let k = 0; k < widths.length; k++) push(parts, repeat("─", widths[k]));
    return left + join(parts, middle) + right;
  };
  const row = (line) => {
    const parts = [];
    for (let k = 0; k < widths.length; k++) push(parts, padEnd(" " + line[k], widths[k]));
    return "│" + join(parts, "│") + "│";
  };
  const lines = [rule("┌", "┬", "┐"), row(columns), rule("├", "┼", "┤")];
  for (let i = 0; i < cells.length; i++) push(lines, row(cells[i]));
  push(lines, rule("└", "┴", "┘"));
  return join(lines, "\n");
}

const methods = {
  log(...args) { line(OUT, format(args)); },
  info(...args) { line(OUT, format(args)); },
  debug(...args) { line(OUT, format(args)); },
  warn(...args) { line(ERR, format(args)); },
  error(...args) { line(ERR, format(args)); },
  trace(...args) { line(ERR, args.length === 0 ? "Trace" : "Trace: " + format(args)); },
  dir(object) { line(OUT, inspect(object)); },
  table(data) { line(OUT, table(data)); },
  assert(condition, ...args) {
    if (condition) return;
    line(ERR, args.length === 0 ? "Assertion failed" : typeof args[0] === "string" ? "Assertion failed: " + format(args) : "Assertion failed " + format(args));
  },
  count(label = "default") {
    counts[label] = (counts[label] ?? 0) + 1;
    line(OUT, `${text(label)}: ${counts[label]}`);
  },
  countReset(label = "default") { counts[label] = 0; },
  time(label = "default") { timers[label] = now(); },
  timeLog(label = "default", ...args) {
    if (label in timers) line(OUT, args.length === 0 ? elapsed(label) : `${elapsed(label)} ${format(args)}`);
  },
  timeEnd(label = "default") {
    if (!(label in timers)) return;
    line(OUT, elapsed(label));
    delete timers[label];
  },
  group(...args) {
    if (args.length > 0) line(OUT, format(args));
    indent += "  ";
  },
  groupCollapsed(...args) { methods.group(...args); },
  groupEnd() { indent = slice(indent, 2, indent.length); },
};
const object = { ...methods };
Object.defineProperty(object, Symbol.toStringTag, { value: "console", configurable: true });
Object.defineProperty(globalThis, "console", { value: object, writable: true, enumerable: false, configurable: true });
}
