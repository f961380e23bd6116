import { chart, points } from "./chart.js";
import { el, table, tag, text, wrong } from "./dom.js";
import { artifacts } from "./files.js";
import { entries, isNumber, isObject, write } from "./json.js";

const mostRows = 1000;

// result shows what a piece of code gave: its value as a table, a chart or JSON,
// what it printed, the files that it handed back, and why it failed.
export function result({ data, problem }, took) {
  if (!data.outcome) return [wrong(problem)];
  const nodes = [el("div", { class: "head" }, el("h2", {}, "Result"), tag(data.outcome), el("span", { class: "dim" }, `${took} ms in all`))];
  const failed = data.outcome !== "ok";
  if (failed) nodes.push(el("p", { class: "notice bad", role: "alert" }, why(data), " ", el("span", {}, data.next[0].toUpperCase() + data.next.slice(1) + ".")));
  const output = isObject(data.output) ? data.output : { value: data.output };
  if (output.stdout) nodes.push(el("h3", {}, "Output"), text(output.stdout, "Output"));
  if (output.stderr) nodes.push(el("h3", {}, "Error output"), text(output.stderr, "Error output"));
  if (output.error?.traceback) nodes.push(el("h3", {}, "Traceback"), text(output.error.traceback, "Traceback"));
  if (data.truncated) nodes.push(el("p", { class: "notice ask" }, `The result is cut: it had ${data.original_bytes} bytes.`));
  if (data.approval) nodes.push(el("p", {}, "Approval ", el("span", { class: "mono" }, data.approval)));
  if (output.value !== undefined) nodes.push(views(output.value));
  else if (typeof data.output === "string") nodes.push(text(data.output, "Output"));
  const files = artifacts(data.artifacts);
  if (files) nodes.push(files);
  return nodes;
}

function why(data) {
  if (data.decision?.outcome !== "allow") return sentence(data.decision.reason);
  const error = isObject(data.output) ? data.output.error : undefined;
  if (error) return sentence(`${error.type}: ${error.message}`) + (error.line ? ` Line ${error.line}.` : "");
  return sentence(data.outcome.replaceAll("_", " ") + (data.error?.message ? ": " + data.error.message : ""));
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");

// views lets people choose how a value is shown.
function views(value) {
  const all = [];
  const rows = rowsOf(value), bars = points(value);
  if (rows) all.push(["Table", () => rows]);
  if (bars) all.push(["Chart", () => chart(bars)]);
  all.push(["JSON", () => text(write(value), "Value")]);
  const pane = el("div", { id: "value" });
  const buttons = all.map(([name, make]) => el("button", { type: "button", "aria-controls": "value", onclick: () => choose(name, make) }, name));
  const choose = (name, make) => {
    buttons.forEach((b) => b.setAttribute("aria-pressed", b.textContent === name));
    pane.replaceChildren(make());
  };
  choose(...all[0]);
  return el("section", { "aria-label": "Value" }, all.length > 1 ? el("div", { class: "choice", role: "group", "aria-label": "Show the value as" }, buttons) : null, pane);
}

const cell = (v) => {
  if (v === undefined) return el("td", {});
  if (isNumber(v)) return el("td", { class: "number" }, v);
  return el("td", {}, typeof v === "string" ? v : write(v, null));
};

// rowsOf is the table of a value: of objects, of lists, or of an object's members.
function rowsOf(value) {
  let head, body;
  if (isObject(value)) {
    if (!entries(value).length) return null;
    head = ["Name", "Value"];
    body = entries(value);
  } else if (Array.isArray(value) && value.length && value.every(isObject)) {
    head = [...new Set(value.slice(0, mostRows).flatMap((r) => entries(r).map(([k]) => k)))].slice(0, 100);
    body = value.slice(0, mostRows).map((r) => head.map((n) => (Object.hasOwn(r, n) ? r[n] : undefined)));
  } else if (Array.isArray(value) && value.length && value.every(Array.isArray)) {
    const width = Math.min(100, Math.max(...value.slice(0, mostRows).map((r) => r.length)));
    head = Array.from({ length: width }, (_, i) => i);
    body = value.slice(0, mostRows).map((r) => head.map((i) => r[i]));
  } else return null;
  const size = Array.isArray(value) ? value.length : body.length;
  return el("div", {}, table("Value as a table", head, body.slice(0, mostRows).map((r) => r.map(cell)), "compact"),
    el("p", { class: "dim" }, size > mostRows ? `The first ${mostRows} of ${size} rows.` : size === 1 ? "1 row." : size + " rows."));
}
