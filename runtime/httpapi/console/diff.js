import { el } from "./dom.js";

const most = 4_000_000; // pairs of lines; beyond that all is shown as changed

// diff shows which lines of a text became which.
export function diff(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  const out = el("pre", { "aria-label": "What was changed", role: "region", tabindex: "0", class: "diff" });
  const same = (line) => out.append(el("span", {}, "  " + line));
  const gone = (line) => out.append(el("del", {}, "- " + line));
  const come = (line) => out.append(el("ins", {}, "+ " + line));
  if (a.length * b.length > most) {
    a.forEach(gone);
    b.forEach(come);
    return out;
  }
  // common[i][j] is how many lines a from i and b from j have in common.
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { same(a[i++]); j++; }
    else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) gone(a[i++]);
    else come(b[j++]);
  }
  return out;
}
