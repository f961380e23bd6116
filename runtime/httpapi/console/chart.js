import { visible } from "./dom.js";

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
      if (typeof v === "number") return [i, v];
      if (v === null || typeof v !== "object") return [i, NaN];
      const cells = Object.values(v);
      return [cells.find((c) => typeof c === "string") ?? cells[0], cells.findLast((c) => typeof c === "number")];
    });
  } else if (value && typeof value === "object") {
    list = Object.entries(value);
  }
  return list?.length && list.length <= 200 && list.every(([, n]) => Number.isFinite(n)) ? list : null;
}

// chart draws bars.
export function chart(list) {
  const width = 800, height = 260, low = Math.min(0, ...list.map((p) => p[1])), high = Math.max(0, ...list.map((p) => p[1]));
  const y = (n) => 20 + (height - 50) * (high === low ? 1 : (high - n) / (high - low));
  const step = width / list.length;
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": "bar chart of the result" });
  node.append(svg("line", { x1: 0, x2: width, y1: y(0), y2: y(0) }));
  list.forEach(([label, n], i) => {
    const bar = svg("rect", { x: i * step + step * 0.1, width: step * 0.8, y: Math.min(y(n), y(0)), height: Math.abs(y(n) - y(0)) });
    bar.append(svg("title", {}, `${label}: ${n}`));
    node.append(bar);
    if (list.length <= 16) {
      node.append(svg("text", { x: (i + 0.5) * step, y: height - 8, "text-anchor": "middle" }, String(label).slice(0, 14)));
      node.append(svg("text", { x: (i + 0.5) * step, y: Math.min(y(n), y(0)) - 4, "text-anchor": "middle" }, n));
    }
  });
  return node;
}
