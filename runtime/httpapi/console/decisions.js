import { outcome } from "./calls.js";
import { bytes, clock, el, empty, micros, runLink, tag } from "./dom.js";

// steps are the governor's, in order: who calls, and the nine.
const steps = [
  ["run", "who calls, and what is left of the budget"], ["registry", "is there such a tool, granted and as it was pinned"],
  ["schema", "do the arguments fit"], ["policy", "what do the rules say"], ["trifecta", "could private data get out"],
  ["limits", "how often"], ["judge", "what does the judge say"], ["approval", "does a person have to say yes"],
  ["execute", "the tool runs"], ["output", "the result is sanitized and cut"],
];

const marks = { allow: "✓", require_approval: "?", block: "✗" };

// decisions shows calls as they are decided, step by step.
export function decisions({ calls, live }) {
  const list = el("div", {}), none = empty("Nothing was decided yet. Calls appear here as they are made.");
  const nodes = new Map(); // by call
  const filter = el("input", { type: "search", placeholder: "tool, run, outcome or code", oninput: refresh });
  const paused = el("input", { type: "checkbox", onchange: refresh });
  const matches = (call) => [call.tool, call.run, outcome(call), call.decided?.code, call.decided?.outcome, call.ended?.error_type]
    .some((t) => t?.toLowerCase().includes(filter.value.trim().toLowerCase()));

  function refresh() {
    if (paused.checked) return;
    const wanted = calls.list.filter(matches).slice(0, 100).map((call) => {
      const old = nodes.get(call);
      if (old && old.ended === call.ended) return old.node;
      const node = card(call);
      nodes.set(call, { node, ended: call.ended });
      return node;
    });
    // Nodes that stay are not moved, so that neither focus nor a selection is lost.
    let at = list.firstChild;
    for (const node of wanted) {
      if (node === at) at = at.nextSibling;
      else list.insertBefore(node, at);
    }
    const keep = new Set(wanted);
    for (const node of [...list.children]) if (!keep.has(node)) node.remove();
    for (const call of nodes.keys()) if (!calls.list.includes(call)) nodes.delete(call);
    none.hidden = wanted.length > 0;
    none.textContent = calls.list.length ? "No call of those that are shown here matches." : "Nothing was decided yet. Calls appear here as they are made.";
  }

  refresh();
  return {
    title: "Decisions",
    body: [el("div", { class: "row bar" }, el("label", { class: "inline" }, "Filter", filter), el("label", { class: "inline" }, paused, "Pause")),
      live() ? null : empty("This server keeps no trace to follow."), none, list],
    changed: refresh,
  };
}

// card shows a call: what was decided, in which step and why, and how it ended.
export function card(call) {
  const d = call.decided, e = call.ended;
  return el("article", { class: "card", "data-call": call.id, "aria-label": `${call.tool}: ${outcome(call).replaceAll("_", " ")}` },
    el("div", { class: "head" }, el("h3", {}, call.tool), tag(outcome(call)), el("span", { class: "dim" }, clock(call.time), " · run ", runLink(call.run))),
    d && d.outcome !== "allow" ? el("p", {}, d.reason, " ", el("span", { class: "dim" }, `(${d.step}: ${d.code})`)) : null,
    e?.error_type && e.error_type.toLowerCase() !== e.outcome ? el("p", {}, "The tool failed: ", el("span", { class: "failed" }, e.error_type)) : null,
    e?.artifacts?.length ? el("p", {}, "Files handed back: ", e.artifacts.map((a) => `${a.name} (${bytes(a.size)})`).join(", ")) : null,
    e?.missing_layers?.length ? el("p", { class: "bad" }, "Ran without layers that this host does not have: " + e.missing_layers.join(", ")) : null,
    el("ol", { class: "steps", "aria-label": "Steps" }, steps.map(([name, what], i) => step(call, name, what, i))));
}

function step(call, name, what, i) {
  const done = stepOf(call, name);
  return el("li", { class: done ? done.kind : "", title: what },
    el("span", { class: "dim" }, i || "·"), el("span", {}, name),
    el("span", {}, done ? marks[done.kind] : "–"), el("span", { class: "visually-hidden" }, done ? done.words : "not reached"),
    el("span", { class: "dim" }, done?.note ?? ""));
}

// stepOf says how a step went; null: the call did not come so far.
function stepOf({ decided, ended }, name) {
  const one = decided?.steps?.find((s) => s.step === name);
  if (one) return { kind: one.outcome in marks ? one.outcome : "block", words: one.outcome.replaceAll("_", " "), note: micros(one.took_us) };
  if (!ended || (decided && decided.outcome !== "allow")) return null;
  const fine = ended.outcome === "ok" || ended.outcome === "effect_confirmed";
  if (name === "execute") return { kind: fine ? "allow" : "block", words: ended.outcome.replaceAll("_", " "), note: micros(ended.took_us) };
  if (name === "output" && fine) {
    const what = [ended.truncated && "cut", ended.redacted && "redacted"].filter(Boolean).join(", ");
    return { kind: "allow", words: what || "nothing was changed", note: what };
  }
  return null;
}
