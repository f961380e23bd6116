import { ask } from "./api.js";
import { diff } from "./diff.js";
import { clock, el, empty, path, relative, runLink, say, tag, text, wrong } from "./dom.js";
import { read, write } from "./json.js";

// approvals is the queue: what waits, then what was answered before. It changes as
// approvals come, and leaves alone what somebody is about to answer.
export async function approvals({ me, answered }) {
  const waiting = el("div", {}), before = el("div", {}), none = empty("Nothing waits for an answer.");
  none.tabIndex = -1;
  const shown = new Map(); // by ID: the article, and the state that it shows
  let failed = null;

  async function refresh() {
    const { ok, data, problem } = await ask("v1/approvals?state=all&limit=100");
    failed?.remove();
    if (!ok) {
      failed = wrong(problem);
      waiting.before(failed);
      return;
    }
    let last = null;
    for (const a of data.approvals) {
      const old = shown.get(a.id);
      if (old?.state === a.state) {
        if (a.state === "pending") last = old.node;
        continue;
      }
      const node = question(a, me, (problem) => done(a, problem));
      const focused = old?.node.contains(document.activeElement);
      old?.node.remove();
      shown.set(a.id, { state: a.state, node });
      if (a.state !== "pending") before.append(node);
      else if (last) last.after(node);
      else waiting.prepend(node);
      if (a.state === "pending") last = node;
      if (focused) next();
    }
    const pending = data.approvals.filter((a) => a.state === "pending");
    none.hidden = pending.length > 0;
    heading.hidden = before.childElementCount === 0;
    // What was answered last comes first.
    before.replaceChildren(...data.approvals.filter((a) => a.state !== "pending").slice(0, 50).map((a) => shown.get(a.id).node));
    answered(pending.filter((a) => a.may_answer).length);
  }

  // next puts the keyboard where the next question is.
  function next() {
    (waiting.querySelector("article h3") ?? none).focus();
  }

  async function done(a, problem) {
    say(problem ?? "Done. The agent can repeat the call now.");
    await refresh();
  }

  const heading = el("h2", { hidden: true }, "Answered before");
  await refresh();
  return { title: "Approvals", body: [waiting, none, heading, before], changed: refresh };
}

// question shows an approval, with its arguments exactly as they would run. Those
// that a list had no room for have to be looked at before they are answered.
export function question(a, me, answered) {
  const until = a.expires && a.state === "pending" ? [" · expires ", relative(a.expires)] : [];
  const node = el("article", { class: "card", "data-approval": a.id, "aria-label": `${a.tool}, ${a.state}` },
    el("div", { class: "head" }, el("h3", { tabindex: "-1" }, a.tool), tag(a.state)),
    el("p", { class: "dim" }, `Asked by ${a.principal || "nobody"}${a.tenant ? " of " + a.tenant : ""}${a.task ? " for " + a.task : ""} `, relative(a.created), ...until, " · run ", runLink(a.run)),
    el("p", {}, sentence(a.cause), " ", el("span", { class: "dim" }, `(${a.step}: ${a.code})`)));
  if (a.args_withheld) {
    const show = el("button", { type: "button", onclick: async () => {
      const { ok, data, problem } = await ask("v1/approvals/" + path(a.id));
      if (!ok) return show.after(wrong(problem));
      const whole = question({ ...data, may_answer: a.may_answer }, me, answered);
      node.replaceChildren(...whole.childNodes);
      node.querySelector("h3").focus();
    } }, "Show the arguments");
    node.append(el("p", {}, "The arguments are too long for this list. ", show));
    return node;
  }
  node.append(text(exact(a.args_text, a.args), "Arguments of " + a.tool));
  if (a.edited_args !== undefined) node.append(el("h4", {}, "Approved with changes"), diff(exact(a.args_text, a.args), exact(a.edited_args_text, a.edited_args)));
  if (a.approver) node.append(el("p", {}, `${sentence(a.state)} by ${a.approver} `, clock(a.decided), a.reason ? ": " + a.reason : ""));
  if (a.state !== "pending") return node;
  if (!a.may_answer) node.append(el("p", { class: "dim" }, whyNot(a, me)));
  else if (answered) node.append(...form(a, answered));
  return node;
}

const exact = (laidOut, value) => laidOut ?? write(value);
const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);

function whyNot(a, me) {
  if (a.principal === me.principal) return "Nobody answers their own calls: somebody else has to.";
  return `To answer takes the role ${a.approver_role || "approver"}, which you do not have.`;
}

// form asks for the answer.
function form(a, answered) {
  const before = a.args_text;
  // Changes are compared in the form that the server chose.
  const layOut = before.includes("\n") || before.length < 1000 ? "" : null;
  const unchanged = write(read(before), layOut);
  const reason = el("input", { type: "text", maxlength: "1000" });
  const editor = el("textarea", { rows: Math.min(20, before.split("\n").length + 1), spellcheck: "false", autocapitalize: "off" });
  editor.value = before;
  const problem = el("p", { class: "bad", role: "status" }), changes = el("div", {});
  let sending = false; // a button that was switched off would lose the keyboard
  const send = async (verb, args) => {
    if (sending) return;
    sending = true;
    // The arguments are put in as text: they keep all their digits.
    const base = JSON.stringify({ reason: reason.value, call_hash: a.call_hash });
    const answer = await ask("v1/approvals/" + path(a.id) + "/" + verb, args === undefined ? base : base.slice(0, -1) + ',"args":' + args + "}");
    const accepted = answer.ok && answer.data.accepted;
    sending = false;
    answered(accepted ? (verb === "reject" ? "Rejected." : undefined) : "Nothing was decided: " + answer.problem);
  };
  const button = (name, kind, click) => el("button", { type: "button", class: kind, onclick: click }, name);
  const approve = button("Approve once", "main", () => send("approve"));
  const reject = button("Reject", "", () => send("reject"));
  const edited = button("Approve as edited", "main", () => send("edit", editor.value));
  function changed() {
    problem.textContent = "";
    edited.disabled = true;
    try {
      const after = write(read(editor.value), layOut);
      if (after === unchanged) changes.replaceChildren(el("p", { class: "dim" }, "No change yet. What you change is shown here."));
      else {
        changes.replaceChildren(diff(unchanged, after));
        edited.disabled = false;
      }
    } catch (error) {
      changes.replaceChildren();
      problem.textContent = "This is not JSON yet: " + error.message;
    }
  }
  editor.addEventListener("input", changed);
  changed();
  return [
    el("label", {}, "Reason, for the record", reason),
    el("div", { class: "row" }, approve, reject),
    el("details", {}, el("summary", {}, "Edit the arguments"),
      el("label", {}, "Arguments to approve instead", editor), problem, changes, edited),
  ];
}
