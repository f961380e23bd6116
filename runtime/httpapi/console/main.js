import { ask, follow, keep, onRefused, token } from "./api.js";
import { approvals } from "./approvals.js";
import { Calls, outcome } from "./calls.js";
import { decisions } from "./decisions.js";
import { el, visible, wrong } from "./dom.js";
import { playground } from "./playground.js";
import { run, runs } from "./runs.js";
import { tool, tools } from "./tools.js";

const views = { approvals, decisions, runs, run, tools, tool, playground };
const parents = { run: "runs", tool: "tools" };
const byId = (id) => document.getElementById(id);
const main = byId("view");

// session is what views are given.
const session = { me: null, calls: new Calls(), live: () => traceState !== "none", answered: badge };
let traceState = "", stop = new AbortController(), turn = 0, current = null;

function login(why) {
  turn++;
  current = session.me = null;
  stop.abort();
  session.calls.clear();
  byId("views").hidden = byId("account").hidden = byId("live").hidden = true;
  const input = el("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false", id: "token", "aria-describedby": "token-help" });
  main.replaceChildren(el("form", { class: "card login", onsubmit: (event) => { event.preventDefault(); keep(input.value.trim()); start(); } },
    el("h2", {}, "Sign in"), why && wrong(why), el("label", {}, "Token", input),
    el("p", { class: "dim", id: "token-help" }, "It stays in this tab until the tab is closed. Whoever runs the server makes one with ", el("code", {}, "mayfly tokens new"), "."),
    el("button", { class: "main" }, "Sign in")));
  document.title = "Sign in – Mayfly";
  input.focus();
}

async function start() {
  stop.abort();
  stop = new AbortController();
  const { signal } = stop, had = token();
  const answer = await ask("v1/me");
  if (signal.aborted) return; // refused: that has its own page
  if (!answer.ok) {
    login(had || answer.status !== 401 ? answer.problem : "");
    return;
  }
  const me = session.me = answer.data;
  byId("views").hidden = byId("account").hidden = byId("live").hidden = false;
  byId("leave").hidden = !had;
  byId("who").textContent = visible([me.principal, me.tenant && (me.tenant === "*" ? "all tenants" : me.tenant), me.roles.join(", ")].filter(Boolean).join(" · "));
  session.calls.clear();
  let waiting = null;
  follow((note) => {
    announce(session.calls.add(note), note);
    waiting ??= setTimeout(() => { waiting = null; changed(); }, 250);
  }, connection, signal);
  await route();
  if (current?.view !== approvals) count();
}

// connection shows whether what is seen is what is.
function connection(state) {
  const before = traceState, live = byId("live");
  traceState = state;
  live.className = state;
  live.textContent = { live: "Live", broken: "Server gone; trying again", gap: "Live; the server has started anew", none: "No trace" }[state];
  if (state === "live" && before === "broken") route();
}

// announce says what was decided to those who do not see the page; of many at once
// the last.
function announce(call, note) {
  if (traceState !== "live" || Date.now() - new Date(note.time) > 10_000) return; // not news
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => (byId("news").textContent = visible(`${call.tool}: ${outcome(call).replaceAll("_", " ")}`)), 700);
}

async function changed() {
  await current?.changed?.();
  if (session.me && current?.view !== approvals) count();
}

// count says how many approvals wait for this person.
async function count() {
  const { ok, data } = await ask("v1/approvals");
  if (ok) badge(data.approvals.filter((a) => a.may_answer).length);
}

function badge(n) {
  byId("waiting").hidden = n === 0;
  byId("waiting").textContent = n;
  byId("waiting-words").textContent = n ? (n === 1 ? "waits for you" : "wait for you") : "";
}

async function route() {
  if (!session.me) return;
  const [first, ...rest] = (location.hash.slice(1) || "approvals").split("/");
  const name = first in views ? first : "approvals";
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === "#" + (parents[name] ?? name)) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const mine = ++turn;
  let view;
  try {
    view = await views[name](session, ...rest.map(decodeURIComponent));
  } catch (error) {
    console.error(error);
    view = { title: "Something is wrong", body: [wrong("This page cannot be shown: " + error.message)] };
  }
  if (mine !== turn) return; // another view was asked for meanwhile
  current = { ...view, view: views[name] };
  const heading = el("h2", { class: "title", tabindex: "-1" }, view.title);
  main.replaceChildren(heading, ...view.body.filter(Boolean));
  document.title = visible(view.title) + " – Mayfly";
  if (route.moved) heading.focus({ preventScroll: true });
  route.moved = false;
}

onRefused(() => {
  const had = token();
  keep("");
  login(had ? "This token does not hold, or not any longer." : "");
});
byId("leave").addEventListener("click", () => { keep(""); login(""); });
addEventListener("hashchange", () => { route.moved = true; route(); });
start();
