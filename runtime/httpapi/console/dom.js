// Everything that is shown goes through el and text: values become text nodes,
// never markup.

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== false) node.append(child instanceof Node ? child : visible(String(child)));
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

// tag shows an outcome or a state in a word and in its colour.
export function tag(text) {
  return el("span", { class: "tag " + (classes.test(text) ? text : "") }, text.replaceAll("_", " "));
}

// say tells what has just happened, also to those who do not see the page.
export function say(text) {
  const status = document.getElementById("status");
  status.textContent = visible(text);
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (status.textContent = ""), 8000);
}

export const wrong = (text) => el("p", { class: "notice bad", role: "alert" }, text);
export const empty = (...text) => el("p", { class: "empty" }, ...text);

// text shows text as it is, in a box that scrolls by keyboard too.
export const text = (value, label) => el("pre", { tabindex: "0", role: "region", "aria-label": label }, value);

// facts are names and values.
export function facts(list) {
  return el("dl", { class: "facts" }, list.filter(([, v]) => v !== undefined && v !== null && v !== "").map(([k, v]) =>
    el("div", {}, el("dt", {}, k), el("dd", {}, v))));
}

// table has a caption for those who do not see the heading above it. Cells may be
// nodes of their own.
export function table(caption, head, rows, kind = "") {
  return el("div", { class: "scroll " + kind, tabindex: "0", role: "region", "aria-label": caption }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((h, i) => el("th", { scope: "col", class: rows.length && rows.every((r) => r[i]?.className === "number" || r[i]?.childNodes?.length === 0) ? "number" : null }, h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c) => (c instanceof HTMLTableCellElement ? c : el("td", {}, c))))))));
}

const two = (n) => String(n).padStart(2, "0");

// clock shows a time of the trace as the clock on the wall does; the exact one is
// its title.
export function clock(stamp) {
  const t = new Date(stamp);
  if (isNaN(t)) return el("span", {}, stamp);
  const day = `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())} `;
  const time = `${two(t.getHours())}:${two(t.getMinutes())}:${two(t.getSeconds())}`;
  return el("time", { datetime: stamp, title: stamp }, (t.toDateString() === new Date().toDateString() ? "" : day) + time);
}

// relative shows how long ago a time was, or how far away it is.
export function relative(stamp) {
  return el("time", { datetime: stamp, title: stamp, "data-relative": true }, distance(stamp));
}

function distance(stamp) {
  const seconds = Math.round((Date.now() - new Date(stamp)) / 1000), s = Math.abs(seconds);
  if (isNaN(seconds)) return String(stamp);
  const span = s < 60 ? s + " s" : s < 3600 ? Math.floor(s / 60) + " min" : s < 172800 ? Math.floor(s / 3600) + " h" : Math.floor(s / 86400) + " days";
  return seconds < 0 ? "in " + span : span + " ago";
}

setInterval(() => {
  for (const t of document.querySelectorAll("time[data-relative]")) t.textContent = distance(t.dateTime);
}, 10_000);

export const micros = (us) => (us >= 1e6 ? (us / 1e6).toFixed(2) + " s" : us >= 1000 ? (us / 1000).toFixed(1) + " ms" : Math.round(us) + " µs");
export const bytes = (n) => (n < 1000 ? n + (n === 1 ? " byte" : " bytes") : n < 1e6 ? (n / 1e3).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB");
export const path = (...parts) => parts.map((p) => encodeURIComponent(p)).join("/");
export const runLink = (id) => el("a", { href: "#run/" + path(id), title: "Run " + visible(id) }, id.length > 12 ? id.slice(0, 8) + "…" : id);
