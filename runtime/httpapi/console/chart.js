import { visible } from "./dom.js";
import { Exact, entries, isNumber, isObject } from "./json.js";

const space = "http://www.w3.org/2000/svg";

function svg(name, attributes, text) {
  const node = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = visible(String(text));
  return node;
}

// points finds labels and numbers in a value: an object of numbers, or a list of
// numbers, of pairs, or of objects. null: there are none.
export function points(value) {
  let list = null;
  if (Array.isArray(value)) {
    list = value.map((v, i) => {
      if (isNumber(v)) return [i, v];
      if (v === null || typeof v !== "object") return [i, NaN];
      const cells = Array.isArray(v) ? v : entries(v).map(([, c]) => c);
      const label = cells.find((c) => typeof c === "string") ?? (cells.length > 1 ? cells[0] : i);
      return [label === null || (typeof label === "object" && !(label instanceof Exact)) ? i : label, cells.findLast(isNumber)];
    });
  } else if (isObject(value)) {
    list = entries(value);
  }
  return list?.length && list.length <= 200 && list.every(([, n]) => isNumber(n) && Number.isFinite(Number(n))) ? list : null;
}

const short = (text, most) => { const all = [...String(text)]; return all.length > most ? all.slice(0, most - 1).join("") + "…" : all.join(""); };

// chart draws a bar for each point. Lengths are in percent, so that the text keeps
// its size on any screen; a number that has more digits than a double is as long
// as the double, and written in full.
export function chart(list) {
  const row = 26, left = 27, right = 78, names = list.map((p) => p[0]), values = list.map((p) => Number(p[1]));
  const low = Math.min(0, ...values), high = Math.max(0, ...values);
  const scale = Math.max(Math.abs(low), Math.abs(high)) || 1; // so that the span cannot overflow
  const span = high / scale - low / scale || 1;
  const x = (n) => left + (right - left) * ((n / scale - low / scale) / span);
  const node = svg("svg", { class: "chart", width: "100%", height: list.length * row + 8, role: "img" });
  node.setAttribute("aria-label", visible(`Bar chart of ${list.length} values: ` + list.slice(0, 20).map(([k, v]) => `${short(k, 30)} ${v}`).join(", ") + (list.length > 20 ? ", …" : "")));
  list.forEach(([, n], i) => {
    const y = 4 + i * row, from = Math.min(x(values[i]), x(0)), to = Math.max(x(values[i]), x(0));
    const group = svg("g", {});
    group.append(svg("title", {}, `${names[i]}: ${n}`),
      svg("text", { x: left + "%", dx: -8, y: y + 17, "text-anchor": "end" }, short(names[i], 14)),
      svg("rect", { x: from + "%", width: Math.max(to - from, 0.1) + "%", y: y + 3, height: row - 6, rx: 2 }),
      svg("text", { x: to + "%", dx: 6, y: y + 17, class: "number" }, short(n, 18)));
    node.append(group);
  });
  node.append(svg("line", { x1: x(0) + "%", x2: x(0) + "%", y1: 0, y2: list.length * row + 8 }));
  return node;
}
