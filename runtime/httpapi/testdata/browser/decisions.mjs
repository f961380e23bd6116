// Watches calls while they are decided, then looks at runs and tools.
import assert from "node:assert/strict";
import { end, enter, host, look, page, until } from "./page.mjs";

await enter("root");
await page.getByRole("link", { name: "Runs" }).click();
await page.getByText("There are no runs yet").waitFor();
await look("runs-empty");
await page.getByRole("link", { name: "Decisions" }).click();
await page.getByText("Nothing was decided yet").waitFor();
await look("decisions-empty");

await host("calls");
const cards = page.locator("article[data-call]");
await until(async () => (await cards.count()) === 5, "the calls do not appear while they are made");
assert.match(await page.locator("main").innerText(), /<img src=x onerror=pwned\(\)>/, "a planted name is not shown");
await until(async () => /refund: require approval/.test(await page.locator("#news").innerText()), "nothing is announced");
assert.equal(await page.locator("#news").getAttribute("aria-live"), "polite");

// Step by step: one call is under way, with what was decided so far.
const steps = async (card) => (await card.locator(".steps li").allInnerTexts()).map((s) => s.replace(/\s+/g, " ").trim());
await host("wait");
const waits = page.locator("article[data-call]", { hasText: "waits" });
await waits.getByText("running").waitFor();
let now = await steps(waits);
assert.equal(now.length, 10);
assert.match(now[1], /^1 registry ✓ allow \d+.*s$/);
assert.match(now[7], /^7 approval ✓/);
assert.match(now[8], /^8 execute – not reached/);
await host("release");
await waits.locator(".tag.ok").waitFor();
now = await steps(waits);
assert.match(now[8], /^8 execute ✓ ok \d/);
assert.match(now[9], /^9 output ✓/);

// Why and where, for what was not let pass.
const refund = page.locator("article[data-call]", { hasText: "refund" });
assert.match(await refund.innerText(), /asks for approval.*\(policy: manifest_approval\)/);
now = await steps(refund);
assert.match(now[3], /^3 policy \? require approval/);
assert.match(now[9], /^9 output – not reached/);
const unknown = await steps(page.locator("article[data-call]", { hasText: "tool_unknown" }));
assert.match(unknown[1], /^1 registry ✗ block/);
assert.match(unknown[2], /^2 schema – not reached/);
await look("decisions");
await page.getByLabel("Filter").fill("tool_unknown");
await until(async () => (await cards.count()) === 1, "the filter does nothing");
await page.getByLabel("Filter").fill("");

// Runs: arguments with all their digits, labels, the budget.
await page.getByRole("link", { name: "Runs" }).click();
await page.getByText("private seen").waitFor();
await look("runs");
await page.getByRole("link", { name: "Decisions" }).click();
await refund.getByRole("link").click();
await page.getByRole("heading", { name: "Grants" }).waitFor();
const run = await page.locator("main").innerText();
assert.ok(run.includes("1234567890123456789012345678901234567890"), "the run's arguments lost digits");
assert.match(run, /1 of 1000000/);
await look("run");

// Tools: the manifest, with all digits.
await page.getByRole("link", { name: "Tools" }).click();
await page.getByRole("link", { name: "planted" }).waitFor();
await look("tools");
await page.getByRole("link", { name: "planted" }).click();
await page.getByRole("heading", { name: "Manifest" }).waitFor();
const tool = await page.locator("main").innerText();
assert.equal(tool.split('"maximum": 9007199254740993').length - 1, 2, "schema and manifest lost digits");
assert.match(tool, /"description": "<img src=x onerror=pwned\(\)>"/);
await look("tool");

// A server that lets nobody run code says so.
await page.getByRole("link", { name: "Playground" }).click();
await page.getByText("A token for all tenants runs no code").waitFor();
await look("playground-none");
// Files that a call handed back are named; what is in them, the trace does not have.
await page.getByRole("link", { name: "Decisions" }).click();
await host("files");
await page.locator("article[data-call]", { hasText: "Files handed back: a.svg (6 bytes)" }).waitFor();
await end();
