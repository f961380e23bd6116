import { ask } from "./api.js";
import { question } from "./approvals.js";
import { card } from "./decisions.js";
import { clock, el, empty, facts, path, relative, table, tag, wrong } from "./dom.js";

export async function runs() {
  const { ok, data, problem } = await ask("v1/runs");
  const list = data.runs ?? [];
  return { title: "Runs", body: [
    ok ? null : wrong(problem),
    ok && !list.length ? empty("There are no runs yet. A run starts with the first call of an agent.") : null,
    list.length ? table("Runs", ["Run", "Principal", "Tenant", "Task", "Calls", "Labels", "Started"], list.map((r) => [
      el("a", { href: "#run/" + path(r.id) }, r.id), r.principal, r.tenant, r.task, el("td", { class: "number" }, r.calls), labels(r), clock(r.created)])) : null,
  ] };
}

const labels = (r) => el("span", { class: "row tight" }, r.labels.map(tag));

// run shows a run: what it may use, what it has seen, what it did.
export async function run({ calls, me }, id) {
  const { ok, data: r, problem } = await ask("v1/runs/" + path(id));
  if (!ok) return { title: "Run", body: [wrong(problem)] };
  const most = r.max_tool_calls;
  const decided = el("div", {});
  const refresh = () => {
    const own = calls.list.filter((c) => c.run === r.id).slice(0, 50);
    decided.replaceChildren(...(own.length ? own.map(card) : [empty("No call of this run is among the latest of the trace.")]));
  };
  refresh();
  return { title: "Run", body: [
    el("p", { class: "mono" }, r.id),
    el("div", { class: "card" }, facts([
      ["Principal", r.principal || "nobody"], ["Tenant", r.tenant], ["Task", r.task], ["Started", clock(r.created)], ["Ends", r.expires && relative(r.expires)],
      ["Has seen", r.labels.length ? labels(r) : "nothing that counts"],
      ["Calls", most ? el("span", { class: "row tight" }, el("meter", { max: most, value: r.calls, high: most * 0.8, "aria-label": "calls used" }), `${r.calls} of ${most}`) : `${r.calls}, without a bound`],
    ])),
    section("Approvals", r.approvals.length, () => r.approvals.map((a) => question({ ...a, may_answer: true }, me))),
    section("Decisions", true, () => decided),
    section("Effects", r.effects.length, () => table("Effects", ["Tool", "State", "Outcome", "Attempts", "Begun"], r.effects.map((e) =>
      [e.tool, tag(e.state), e.outcome ?? "", el("td", { class: "number" }, e.attempts), clock(e.begun)]))),
    section("Grants", r.grants.length, () => table("Grants", ["Tool", "Holds", "Granted by", "Granted"], r.grants.map((g) =>
      [g.tool, g.active ? "yes" : g.revoked ? "revoked" : "expired", g.by || "the start of the run", clock(g.granted)]))),
  ].flat(), changed: refresh };
}

const section = (name, any, body) => [el("h2", {}, name), any ? body() : empty("None.")].flat();
