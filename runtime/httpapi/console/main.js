import { ask, follow, keep, token } from "./api.js";
import { chart, points } from "./chart.js";
import { diff, el, json, say, table, tag, visible } from "./dom.js";

const view = document.getElementById("view");
const notes = []; // the latest of the trace
const maxNotes = 500;
let me = null, traceState = "", stop = new AbortController(), drawn = 0;

const path = (...parts) => parts.map((p) => encodeURIComponent(p)).join("/");

// show puts nodes on the page, unless another view was asked for meanwhile.
function show(turn, title, ...nodes) {
  if (turn !== drawn) return;
  view.replaceChildren(el("h2", {}, title), ...nodes.flat().filter(Boolean));
  document.title = title + " – Mayfly";
}

function login(why) {
  me = null;
  document.getElementById("views").hidden = document.getElementById("leave").hidden = true;
  document.getElementById("who").textContent = "";
  const input = el("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false", id: "token" });
  drawn++;
  view.replaceChildren(el("form", { class: "card", onsubmit: (event) => { event.preventDefault(); keep(input.value.trim()); start(); } },
    el("h2", {}, "Token"), why && el("p", { class: "block" }, why),
    el("label", {}, "Kept in this tab until it is closed", input), el("button", { class: "main" }, "Enter")));
  input.focus();
}

async function start() {
  const answer = await ask("v1/me").catch(() => ({ ok: false, status: 0 }));
  if (!answer.ok) {
    const had = token();
    if (answer.status === 401) keep("");
    login(had ? (answer.status === 401 ? "This token is not valid." : answer.problem ?? "The server cannot be reached.") : "");
    return;
  }
  me = answer.data;
  document.getElementById("views").hidden = false;
  document.getElementById("leave").hidden = !token();
  document.getElementById("who").textContent = visible([me.principal, me.tenant && "for " + me.tenant, me.roles.join(", ")].filter(Boolean).join(" · "));
  stop.abort();
  stop = new AbortController();
  notes.length = 0;
  let waiting = null;
  follow((note) => {
    notes.unshift(note);
    notes.length = Math.min(notes.length, maxNotes);
    waiting ??= setTimeout(() => { waiting = null; refreshed(); }, 250);
  }, (state) => { traceState = state; refreshed(); }, stop.signal);
  route();
  count();
}

function refreshed() {
  if (location.hash === "#decisions") decisions(drawn);
  count();
}

async function count() {
  const answer = await ask("v1/approvals");
  const waiting = (answer.data.approvals ?? []).filter((a) => a.may_answer).length;
  const badge = document.getElementById("waiting");
  badge.hidden = waiting === 0;
  badge.textContent = waiting;
  badge.setAttribute("aria-label", waiting + " wait for you");
}

async function route() {
  if (!me) return;
  const name = location.hash.slice(1) || "approvals";
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === "#" + name.split("/")[0]) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const [which, ...rest] = name.split("/");
  const views = { approvals, decisions, runs, run: runDetails, tools, tool: toolDetails, playground };
  const turn = ++drawn;
  try {
    await (views[which] ?? approvals)(turn, ...rest.map(decodeURIComponent));
  } catch (error) {
    say("The server cannot be reached: " + error.message);
  }
  if (turn === drawn) view.focus({ preventScroll: true });
}

async function approvals(turn) {
  const answer = await ask("v1/approvals?state=all&limit=100");
  if (!answer.ok) return show(turn, "Approvals", el("p", {}, answer.problem));
  const list = answer.data.approvals;
  const waiting = list.filter((a) => a.state === "pending"), done = list.filter((a) => a.state !== "pending");
  show(turn, "Approvals",
    waiting.length ? waiting.map((a) => question(a)) : el("p", { class: "dim" }, "Nothing waits."),
    done.length ? el("section", {}, el("h2", {}, "Before"), done.slice(0, 50).map((a) => question(a))) : null);
}

function question(a) {
  const exact = a.args_text;
  const reason = el("input", { type: "text", maxlength: "1000", "aria-label": "Reason" });
  const editor = el("textarea", { rows: Math.min(20, exact.split("\n").length + 1), spellcheck: "false", "aria-label": "Arguments to approve instead" });
  editor.value = exact;
  const changes = el("div", {});
  editor.addEventListener("input", () => changes.replaceChildren(diff(exact, editor.value)));
  const send = async (verb, body) => {
    const answer = await ask("v1/approvals/" + path(a.id) + "/" + verb, body);
    say(answer.data.accepted ? verb + ": done" : "Nothing has changed: " + answer.problem);
    route();
    count();
  };
  const base = () => ({ reason: reason.value, call_hash: a.call_hash });
  const editing = el("details", {}, el("summary", {}, "Edit"), editor, changes,
    el("button", { type: "button", onclick: () => {
      const rest = JSON.stringify(base());
      send("edit", rest.slice(0, -1) + ',"args":' + editor.value + "}");
    } }, "Approve as edited"));
  return el("article", { class: "card", "data-approval": a.id },
    el("div", { class: "row" }, el("h3", {}, a.tool), tag(a.state), el("span", { class: "dim" }, `for ${a.principal || "nobody"}${a.tenant ? " of " + a.tenant : ""}${a.approver_role ? "; asks for the role " + a.approver_role : ""}`)),
    el("p", { class: "dim" }, `${a.cause} (${a.step}, ${a.code}); asked ${a.created}${a.expires ? ", until " + a.expires : ""}`),
    json(exact),
    a.edited_args_text ? diff(exact, a.edited_args_text) : null,
    a.approver ? el("p", {}, `${a.state} by ${a.approver}${a.reason ? ": " + a.reason : ""}`) : null,
    a.may_answer ? el("div", {}, el("label", {}, "Reason", reason),
      el("div", { class: "row" },
        el("button", { type: "button", class: "main", onclick: () => send("approve", base()) }, "Approve once"),
        el("button", { type: "button", onclick: () => send("reject", base()) }, "Reject")), editing) : null);
}

function decisions(turn) {
  show(turn, "Decisions", el("p", { class: "dim" }, "Trace: " + traceState),
    notes.length ? notes.slice(0, 100).map(note) : el("p", {}, "Nothing yet."));
}

const micros = (us) => (us >= 1e6 ? (us / 1e6).toFixed(2) + " s" : us >= 1000 ? (us / 1000).toFixed(1) + " ms" : Math.round(us) + " µs");

function note(n) {
  const decided = n.name === "harness.governor";
  return el("article", { class: "card" },
    el("div", { class: "row" }, el("h3", {}, n.tool), tag(n.outcome),
      el("span", { class: "dim" }, `${decided ? "decided" : "ended"} ${n.time} in ${micros(n.took_us)}`),
      el("a", { href: "#run/" + path(n.run) }, "run " + n.run.slice(0, 8))),
    n.reason ? el("p", {}, `${n.step} (${n.code}): ${n.reason}`) : null,
    n.error_type ? el("p", {}, n.error_type) : null,
    n.steps ? el("ol", { class: "steps" }, n.steps.map((s) => el("li", { class: s.outcome.replace(/[^a-z_]/g, "") }, `${s.step}${s.code ? " " + s.code : ""} ${micros(s.took_us)}`))) : null);
}

async function runs(turn) {
  const answer = await ask("v1/runs");
  show(turn, "Runs", answer.ok ? table(["Run", "Principal", "Tenant", "Task", "Calls", "Labels", "Created"], answer.data.runs.map((r) =>
    [el("a", { href: "#run/" + path(r.id) }, r.id), r.principal, r.tenant, r.task, r.calls, r.labels.join(", "), r.created])) : el("p", {}, answer.problem));
}

async function runDetails(turn, id) {
  const { ok, data: r, problem } = await ask("v1/runs/" + path(id));
  if (!ok) return show(turn, "Run", el("p", {}, problem));
  show(turn, "Run " + r.id,
    el("p", {}, `${r.principal || "nobody"}${r.tenant ? " of " + r.tenant : ""}${r.task ? ", task " + r.task : ""}; created ${r.created}`),
    el("p", {}, "Calls: " + r.calls + (r.max_tool_calls ? " of " + r.max_tool_calls : ", no bound")),
    r.max_tool_calls ? el("progress", { max: r.max_tool_calls, value: r.calls, "aria-label": "calls used" }) : null,
    el("div", { class: "row" }, "Labels:", r.labels.length ? r.labels.map(tag) : "none"),
    el("h2", {}, "Grants"), table(["Tool", "Holds", "By", "Granted"], r.grants.map((g) => [g.tool, g.active ? "yes" : g.revoked ? "revoked" : "expired", g.by ?? "", g.granted])),
    el("h2", {}, "Effects"), table(["Tool", "State", "Outcome", "Begun"], r.effects.map((e) => [e.tool, e.state, e.outcome ?? "", e.begun])),
    el("h2", {}, "Approvals"), table(["Tool", "State", "Cause", "Asked"], r.approvals.map((a) => [a.tool, a.state, a.cause, a.created])));
}

async function tools(turn) {
  const answer = await ask("v1/tools");
  show(turn, "Tools", answer.ok ? answer.data.tools.map((t) => el("article", { class: "card" },
    el("div", { class: "row" }, el("h3", {}, el("a", { href: "#tool/" + path(t.name) }, t.name)), tag(t.side_effect), el("span", { class: "dim" }, "risk " + t.risk),
      t.enabled ? null : tag("switched off"), t.pin === "mismatch" ? el("span", { class: "block" }, "not what was pinned") : null),
    el("p", {}, t.description))) : el("p", {}, answer.problem));
}

async function toolDetails(turn, name) {
  const { ok, data: t, problem } = await ask("v1/tools/" + path(name));
  if (!ok) return show(turn, "Tool", el("p", {}, problem));
  show(turn, t.name, el("p", {}, t.description), el("p", { class: "dim" }, `pin: ${t.pin}; ${t.definition_digest}; sends data to: ${t.egress.join(", ") || "nobody"}`),
    el("h2", {}, t.manifest ? "Manifest" : "Arguments"), json(t.manifest ?? t.input_schema));
}

const play = { code: 'total = {}\nfor r in rows:\n    total[r["region"]] = total.get(r["region"], 0) + r["amount"]\ntotal\n', rows: "region,amount\nnorth,10\nsouth,25\nnorth,5\n", language: "python", timeout: "", memory: "" };

async function playground(turn) {
  if (!me.exec) return show(turn, "Playground", el("p", {}, "This server runs no code of callers, or this token calls nothing. mayfly serve --exec lets it."));
  const field = (node, key) => { node.value = play[key]; node.addEventListener("input", () => (play[key] = node.value)); return node; };
  const code = field(el("textarea", { rows: "10", spellcheck: "false", id: "code" }), "code");
  const rows = field(el("textarea", { rows: "8", spellcheck: "false", id: "rows" }), "rows");
  const language = field(el("select", { class: "narrow" }, el("option", { value: "python" }, "Python"), el("option", { value: "js" }, "JavaScript")), "language");
  const timeout = field(el("input", { type: "number", min: "1", class: "narrow" }), "timeout");
  const memory = field(el("input", { type: "number", min: "2", class: "narrow" }), "memory");
  const out = el("section", { "aria-live": "polite", id: "result" });
  const take = async (file) => {
    if (file.size > 6_000_000) return say("The file is larger than a request may be.");
    rows.value = play.rows = await file.text();
    say(file.name + " read");
  };
  const file = el("input", { type: "file", accept: ".csv,.tsv,.json,.jsonl,.ndjson", onchange: () => file.files[0] && take(file.files[0]) });
  const drop = el("div", { class: "drop",
    ondragover: (e) => { e.preventDefault(); drop.classList.add("over"); }, ondragleave: () => drop.classList.remove("over"),
    ondrop: (e) => { e.preventDefault(); drop.classList.remove("over"); if (e.dataTransfer.files[0]) take(e.dataTransfer.files[0]); },
  }, el("label", {}, "Rows: CSV, TSV, JSON or JSON Lines, typed, chosen or dropped here; the variable rows", rows), file);
  const run = el("button", { class: "main" }, "Run");
  const form = el("form", { onsubmit: async (event) => {
    event.preventDefault();
    run.disabled = true;
    const limits = {};
    if (timeout.value) limits.timeout_ms = Number(timeout.value);
    if (memory.value) limits.max_memory_mb = Number(memory.value);
    const body = { code: code.value, language: language.value, limits };
    if (rows.value.trim()) body.tables = { rows: { text: rows.value } };
    const answer = await ask("v1/exec", body).catch((error) => ({ data: {}, problem: error.message }));
    run.disabled = false;
    out.replaceChildren(...result(answer));
  } }, el("label", {}, "Code; its last expression is the value", code), drop,
    el("div", { class: "row" }, el("label", {}, "Language", language), el("label", {}, "Timeout, ms", timeout), el("label", {}, "Memory, MB", memory), run));
  show(turn, "Playground", el("div", { class: "card" }, form), out);
}

function result({ data, problem }) {
  if (!data.outcome) return [el("p", { class: "block" }, problem)];
  const nodes = [el("div", { class: "row" }, tag(data.outcome), el("span", { class: "dim" }, data.next))];
  let output = data.output;
  const value = output && typeof output === "object" && !Array.isArray(output) && "value" in output ? output.value : undefined;
  if (output?.stdout) nodes.push(el("h3", {}, "Output"), json(output.stdout));
  if (output?.error) nodes.push(el("h3", {}, "Error"), json(output.error));
  const bars = value === undefined ? null : points(value);
  if (bars) nodes.push(chart(bars));
  if (Array.isArray(value) && value.length && value.every((r) => r && typeof r === "object" && !Array.isArray(r))) {
    const names = [...new Set(value.slice(0, 1000).flatMap(Object.keys))];
    nodes.push(table(names, value.slice(0, 1000).map((r) => names.map((n) => (typeof r[n] === "object" ? JSON.stringify(r[n]) : r[n])))));
  } else if (output !== undefined) {
    nodes.push(json(value === undefined ? output : value));
  }
  if (data.truncated) nodes.push(el("p", { class: "require_approval" }, `The result is cut: it had ${data.original_bytes} bytes.`));
  return nodes;
}

document.getElementById("leave").addEventListener("click", () => { keep(""); stop.abort(); login(""); });
addEventListener("hashchange", route);
start();
