// Drives the console as people do. Arguments: URL, token of an approver, token of an
// agent, folder for screenshots.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [url, approver, agent, shots] = process.argv.slice(2);
const context = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), "console-")), {
  executablePath: "/usr/bin/chromium", headless: true, viewport: { width: 1200, height: 900 }, timeout: 120_000,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
context.setDefaultTimeout(40_000);
const page = context.pages()[0] ?? await context.newPage();
const outside = [], violations = [];
page.on("request", (r) => { if (!r.url().startsWith(url)) outside.push(r.url()); });
page.on("console", (m) => { if (m.type() === "error" && !m.text().includes("401 (Unauthorized)")) violations.push(m.text()); });
page.on("pageerror", (e) => violations.push(String(e)));
await page.exposeFunction("pwned", () => { throw new Error("a planted value ran"); });

const enter = async (token) => {
  await page.goto(url);
  await page.locator("#token").fill(token);
  await page.keyboard.press("Enter");
  await page.locator("nav").waitFor();
};

// The positive control: outside of the console's rules the planted value does run.
const free = await context.newPage();
await free.setContent(`<p></p><img src="data:,x" onerror="document.title='ran'">`);
await free.waitForFunction(() => document.title === "ran");
await free.close();

process.on("uncaughtException", async (e) => {
  console.error(e, violations, outside, await page.locator("body").innerText().catch(() => ""));
  await page.screenshot({ path: join(shots, "failed.png") }).catch(() => {});
  process.exit(1);
});
await enter(approver);
assert.equal(await page.evaluate(() => location.href.includes("mayfly_")), false, "the token is in the URL");
const waits = page.locator("article[data-approval]").first();
await waits.waitFor();
const shown = await waits.innerText();
assert.match(shown, /<img src=x onerror=/, "the exact arguments are shown as text");
assert.match(shown, /9007199254740993/, "numbers keep their digits");
assert.match(shown, /\\u202e/, "characters that reorder text are shown as escapes");
assert.equal(await page.locator("main img, main script, main iframe").count(), 0, "a planted element is in the page");
await page.screenshot({ path: join(shots, "approvals-light.png") });
await page.emulateMedia({ colorScheme: "dark" });
await page.screenshot({ path: join(shots, "approvals-dark.png") });
await page.emulateMedia({ colorScheme: "light" });

// Edited by keyboard: the change is shown, then counts.
await waits.locator("summary").focus();
await page.keyboard.press("Enter");
const text = await waits.locator("textarea").inputValue();
await waits.locator("textarea").fill(text.replace("9007199254740993", "400"));
assert.match(await waits.locator("del").innerText(), /9007199254740993/);
assert.match(await waits.locator("ins").innerText(), /400/);
await page.screenshot({ path: join(shots, "edit-light.png") });
await waits.getByRole("button", { name: "Approve as edited" }).focus();
await page.keyboard.press("Enter");
await page.getByText("edit: done").waitFor();

// The other views.
await page.getByRole("link", { name: "Decisions" }).click();
await page.locator(".steps li").first().waitFor();
await page.screenshot({ path: join(shots, "decisions-light.png") });
await page.getByRole("link", { name: "Tools" }).click();
await page.getByRole("heading", { name: "find_order" }).waitFor();
await page.getByRole("link", { name: "Runs" }).click();
await page.locator("td a").first().click();
await page.getByRole("heading", { name: "Grants" }).waitFor();

await page.getByRole("button", { name: "Leave" }).click();
await enter(agent);
await page.getByRole("link", { name: "Playground" }).click();
await page.locator("#code").fill("chart");
await page.getByRole("button", { name: "Run" }).click();
await page.locator("svg.chart rect").first().waitFor();
assert.equal(await page.locator("svg.chart rect").count(), 2);
await page.emulateMedia({ colorScheme: "dark" });
await page.screenshot({ path: join(shots, "playground-dark.png") });
assert.equal(await page.locator("main img, main script, main iframe").count(), 0, "a planted element is in the page");
assert.deepEqual(outside, [], "the page asked another host");
assert.deepEqual(violations, [], "the page broke its own rules");
await context.close();
console.log("console ok");
