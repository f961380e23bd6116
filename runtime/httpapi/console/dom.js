// Everything that is shown goes through el and text: values become text nodes,
// never markup.

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== undefined) node.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null) node.append(child instanceof Node ? child : visible(String(child)));
  }
  return node;
}

// visible makes an escape of characters that show as nothing or reorder others: what
// is approved must be what is seen.
export function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufe00-\ufe0f]/gu, (c) =>
    c === "\n" || c === "\t" ? c : "\\u{" + c.codePointAt(0).toString(16) + "}");
}

const classes = /^[a-z_]+$/;

export function tag(text) {
  return el("span", { class: "tag " + (classes.test(text) ? text : "") }, text);
}

export function say(text) {
  const status = document.getElementById("status");
  status.textContent = visible(text);
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (status.textContent = ""), 6000);
}

export function json(text) {
  return el("pre", { tabindex: "0" }, typeof text === "string" ? text : pretty(text));
}

export const pretty = (value) => JSON.stringify(value, null, 2);

export function table(head, rows) {
  return el("table", {},
    el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c) => el("td", {}, c))))));
}

// diff shows which lines of a text became which.
export function diff(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  if (a.length * b.length > 4_000_000) return el("pre", {}, el("del", {}, before), el("ins", {}, after));
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const out = el("pre", { "aria-label": "what was changed", class: "diff" });
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { out.append(el("span", {}, "  " + a[i] + "\n")); i++; j++; }
    else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) out.append(el("del", {}, "- " + a[i++]));
    else out.append(el("ins", {}, "+ " + b[j++]));
  }
  return out;
}
