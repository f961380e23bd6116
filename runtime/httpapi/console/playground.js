import { ask } from "./api.js";
import { bytes, el, empty, say, wrong } from "./dom.js";
import { readFile } from "./files.js";
import { result } from "./result.js";

const samples = {
  python: 'total = {}\nfor r in rows:\n    total[r["region"]] = total.get(r["region"], 0) + r["amount"]\ntotal\n',
  js: "const total = {};\nfor (const r of rows) total[r.region] = (total[r.region] ?? 0) + r.amount;\ntotal\n",
};

// What was typed stays while the tab does.
const kept = { code: samples.python, rows: "region,amount\nnorth,10\nsouth,25\nnorth,5\n", language: "python", timeout: "", memory: "", sheet: "" };
// What was dropped: the name of a text that is still as it was, or a file that is no
// text, which stands in place of what was typed.
let named = "", packed = null;

export function playground({ me }) {
  if (!me.exec) {
    return { title: "Playground", body: [empty(me.calls ? "This server runs no code of callers. mayfly serve --exec lets it." : "A token for all tenants runs no code. Come back with one of a tenant.")] };
  }
  const field = (node, key) => { node.value = kept[key]; node.addEventListener("input", () => (kept[key] = node.value)); return node; };
  const most = me.exec_limits, code = field(el("textarea", { rows: "14", spellcheck: "false", autocapitalize: "off", id: "code" }), "code");
  const rows = field(el("textarea", { rows: "9", spellcheck: "false", autocapitalize: "off", id: "rows" }), "rows");
  const language = field(el("select", {}, el("option", { value: "python" }, "Python"), el("option", { value: "js" }, "JavaScript")), "language");
  const timeout = field(el("input", { type: "number", min: "1", max: most.timeout_ms, placeholder: most.timeout_ms }), "timeout");
  const memory = field(el("input", { type: "number", min: "2", max: most.max_memory_mb, placeholder: most.max_memory_mb }), "memory");
  language.addEventListener("change", () => {
    if (Object.values(samples).includes(code.value)) code.value = kept.code = samples[language.value];
  });
  const out = el("section", { "aria-live": "polite", id: "result" });
  const run = el("button", { class: "main" }, "Run"), stop = el("button", { type: "button", hidden: true }, "Stop");
  const form = el("form", { class: "play", onsubmit: submit, onkeydown: (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); form.requestSubmit(); } } },
    el("label", { class: "wide" }, "Code; its last expression is the value", code),
    dropped(rows, me),
    el("div", { class: "row ends" }, el("label", {}, "Language", language), el("label", {}, "Timeout, ms", timeout), el("label", {}, "Memory, MB", memory),
      el("span", { class: "row" }, run, stop), el("span", { class: "dim hint" }, "or Ctrl+Enter")));

  let running = false; // a button that was switched off would lose the keyboard
  async function submit(event) {
    event.preventDefault();
    if (running) return;
    const body = { code: code.value, language: language.value, limits: {} };
    if (timeout.value) body.limits.timeout_ms = Number(timeout.value);
    if (memory.value) body.limits.max_memory_mb = Number(memory.value);
    if (packed) body.tables = { rows: { name: packed.name, data: packed.data, ...(kept.sheet && packed.workbook ? { sheet: kept.sheet } : {}) } };
    else if (rows.value.trim()) body.tables = { rows: { ...(named && { name: named }), text: rows.value } };
    const request = JSON.stringify(body), began = performance.now();
    if (new Blob([request]).size > me.max_request_bytes) return out.replaceChildren(wrong(`Code and rows are too large: together they may have ${me.max_request_bytes} bytes.`));
    const gaveUp = new AbortController();
    running = true;
    run.setAttribute("aria-disabled", "true");
    stop.hidden = false;
    stop.onclick = () => gaveUp.abort();
    out.replaceChildren(el("p", { class: "dim" }, "Running …"));
    const slow = setTimeout(() => out.replaceChildren(el("p", { class: "dim" }, "Running … The first call after an installation takes up to a minute: the interpreter is compiled for this machine.")), 3000);
    const answer = await ask("v1/exec", request, gaveUp.signal);
    clearTimeout(slow);
    const focused = document.activeElement === stop;
    running = false;
    run.removeAttribute("aria-disabled");
    stop.hidden = true;
    if (focused) run.focus();
    out.replaceChildren(...result(answer, Math.max(1, Math.round(performance.now() - began))));
  }

  return { title: "Playground", body: [el("div", { class: "card" }, form), out] };
}

// dropped is where rows are typed, chosen or dropped.
function dropped(rows, me) {
  const take = async (file) => {
    let got;
    try { got = await readFile(file, me.max_request_bytes); } catch (error) { return say(error.message); }
    if (got.text === undefined) packed = got;
    else {
      packed = null;
      rows.value = got.text;
      rows.dispatchEvent(new Event("input"));
      named = got.name;
    }
    show();
    say(file.name + " was read.");
  };
  rows.addEventListener("input", () => (named = ""));
  const file = el("input", { type: "file", class: "visually-hidden", accept: ".csv,.tsv,.tab,.json,.jsonl,.ndjson,.parquet,.arrow,.arrows,.feather,.ipc,.xlsx,.xlsm,.gz,.zst,.zstd", onchange: () => { if (file.files[0]) take(file.files[0]); file.value = ""; } });
  const sheet = el("input", { value: kept.sheet, placeholder: "the first", spellcheck: "false", oninput: () => (kept.sheet = sheet.value) });
  const typed = el("label", { class: "wide" }, "Rows, as the variable rows: CSV, TSV, JSON or JSON Lines", rows), held = el("div", {});
  const show = () => {
    typed.hidden = packed !== null;
    held.replaceChildren(...(packed ? [el("p", { class: "row" }, "Rows, as the variable rows: ", el("span", { class: "mono" }, packed.name), el("span", { class: "dim" }, bytes(packed.size)),
      el("button", { type: "button", onclick: () => { packed = null; show(); rows.focus(); } }, "Remove")),
    packed.workbook ? el("label", {}, "Sheet", sheet) : null].filter(Boolean) : []));
  };
  show();
  const drop = el("div", { class: "drop",
    ondragover: (e) => { e.preventDefault(); drop.classList.add("over"); }, ondragleave: () => drop.classList.remove("over"),
    ondrop: (e) => { e.preventDefault(); drop.classList.remove("over"); if (e.dataTransfer.files[0]) take(e.dataTransfer.files[0]); },
  }, typed, held, el("p", { class: "row" }, el("label", { class: "button" }, file, "Choose a file"), el("span", { class: "dim" }, "or drop one here; Parquet, Excel, gzip and zstd too")));
  return drop;
}
