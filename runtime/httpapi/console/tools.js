import { ask } from "./api.js";
import { el, empty, facts, path, tag, text, wrong } from "./dom.js";
import { write } from "./json.js";

export async function tools() {
  const { ok, data, problem } = await ask("v1/tools");
  const list = data.tools ?? [];
  return { title: "Tools", body: [
    ok ? null : wrong(problem),
    ok && !list.length ? empty("There are no tools for you here. A tool has a manifest, which the harness lists.") : null,
    el("div", { class: "grid" }, list.map((t) => el("article", { class: "card" },
      el("div", { class: "head" }, el("h3", {}, el("a", { href: "#tool/" + path(t.name) }, t.name)), marks(t)),
      el("p", {}, t.description || el("span", { class: "dim" }, "No description."))))),
  ] };
}

const marks = (t) => [tag(t.side_effect), tag("risk " + t.risk), t.enabled ? null : tag("switched off"), t.pin === "mismatch" ? el("span", { class: "tag block" }, "not what was pinned") : null];

const pins = { ok: "as it was pinned", none: "not pinned", mismatch: "not what was pinned: calls are blocked" };

export async function tool(_, name) {
  const { ok, data: t, problem } = await ask("v1/tools/" + path(name));
  if (!ok) return { title: "Tool", body: [wrong(problem)] };
  return { title: t.name, body: [
    el("p", {}, t.description),
    el("div", { class: "card" }, facts([
      ["Does", t.side_effect.replaceAll("_", " ")], ["Risk", t.risk], ["Called by", t.transport], ["Sends data to", t.egress.join(", ") || "nobody"],
      ["Version", t.version], ["Owner", t.owner], ["Switched on", t.enabled ? "yes" : "no"], ["Pin", pins[t.pin] ?? t.pin],
      ["Digest", el("span", { class: "mono" }, t.definition_digest)],
    ])),
    el("h2", {}, "Arguments"), text(write(t.input_schema), "Schema of the arguments"),
    t.manifest !== undefined ? [el("h2", {}, "Manifest, as it is in force"), text(write(t.manifest), "Manifest")] : null,
  ].flat() };
}
