// What the scripts share: a browser that records what it must not do, and the ways
// in which people use a page.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const url = process.env.CONSOLE_URL, shots = process.env.CONSOLE_SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

export const context = await chromium.launchPersistentContext(process.env.CONSOLE_PROFILE, {
  executablePath: "/usr/bin/chromium", headless: true, viewport: { width: 1200, height: 900 }, timeout: 120_000,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
context.setDefaultTimeout(60_000);
export const page = context.pages()[0] ?? await context.newPage();

const outside = [], wrong = [];
let ran = false;
// expected are texts of errors that the browser writes to its console about answers
// that a script asked for.
export const expected = ["401 (Unauthorized)"];
page.on("request", (r) => { if (!r.url().startsWith(url + "/")) outside.push(r.url()); });
page.on("console", (m) => { if (m.type() === "error" && !expected.some((e) => m.text().includes(e))) wrong.push(m.text()); });
page.on("pageerror", (e) => wrong.push(String(e)));
await page.exposeFunction("pwned", () => { ran = true; });
await page.exposeFunction("violated", (what) => wrong.push("policy: " + what));
await page.addInitScript(() => addEventListener("securitypolicyviolation", (e) => window.violated(e.effectiveDirective + " " + e.blockedURI)));

// Controls: where there are no rules the planted value does run, and what the
// console must not do is recorded.
async function controls() {
  const free = await context.newPage();
  await free.setContent(`<p></p><img src="data:,x" onerror="document.title='ran'">`);
  await free.waitForFunction(() => document.title === "ran");
  await free.close();
  await page.goto(url);
  const refused = await page.evaluate(() => { try { document.body.innerHTML = "<p></p>"; return false; } catch { return true; } });
  assert.ok(refused, "markup can be made of text");
  await page.evaluate(() => { const s = document.createElement("img"); s.src = "http://127.0.0.1:1/x.png"; document.body.append(s); });
  await until(() => wrong.some((w) => w.startsWith("policy: img-src")) && wrong.some((w) => w.startsWith("policy: require-trusted-types-for")), "violations of the policy are not recorded");
  await page.waitForTimeout(100); // the browser's console says the same
  wrong.length = outside.length = 0;
}

export async function until(f, what) {
  for (let i = 0; i < 600; i++) {
    if (await f()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(what);
}

const replies = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// host has the test do something.
export async function host(verb) {
  console.log("do " + verb);
  await replies.next();
}

// enter signs in by keyboard.
export async function enter(name) {
  await page.goto("about:blank");
  await page.goto(url);
  await page.locator("#token").waitFor();
  await page.keyboard.type(process.env["TOKEN_" + name]);
  await page.keyboard.press("Enter");
  await page.locator("nav").waitFor();
  assert.ok(!page.url().includes("mayfly_"), "the token is in the URL");
}

// tabTo presses Tab until what has the focus is called name, and looks whether
// that can be seen.
export async function tabTo(name, within = "body") {
  const seen = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate((within) => {
      const e = document.activeElement, style = getComputedStyle(e);
      const name = e.getAttribute("aria-label") ?? e.labels?.[0]?.firstChild?.textContent ?? e.textContent;
      return { name: name.trim(), inside: !!e.closest(within), ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
    }, within);
    seen.push(at.name.slice(0, 40));
    if (at.inside && at.name.startsWith(name)) {
      assert.ok(at.ring, `${name} has the focus, and nobody sees it`);
      return;
    }
  }
  assert.fail(`Tab does not come to ${name}; it came to ${seen.join(" | ")}`);
}

// look checks what is on the page in light and dark, wide and narrow, and keeps
// pictures if they are wanted.
export async function look(name) {
  assert.equal(await page.locator("main img:not(figure.artifact > img[src^='data:image/']), main script, main iframe, header img:not([src='console/icon.svg'])").count(), 0, name + ": a planted element is in the page");
  for (const [width, height] of [[1200, 900], [360, 800]]) {
    await page.setViewportSize({ width, height });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${name} is ${over} pixels too wide for ${width}`);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      // Colours that a click has set going are looked at where they arrive.
      await page.evaluate(() => Promise.allSettled(document.getAnimations().map((a) => a.finished)));
      const poor = await page.evaluate(contrast);
      assert.deepEqual(poor, [], `${name}, ${colorScheme}, ${width}: too little contrast`);
      if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const nameless = await page.evaluate(() => [...document.querySelectorAll("input, textarea, select, button, a[href], [role=region], [role=img]")]
    .filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.labels?.length || (e.matches("button, a") && e.textContent.trim()))).map((e) => e.tagName + "#" + e.id));
  assert.deepEqual(nameless, [], name + ": controls without a name");
}

// contrast gives the texts that stand out from what is behind them by less than
// 4.5 to 1, or 3 to 1 for what is switched off.
function contrast() {
  const rgb = (css) => { const n = css.match(/[\d.]+/g).map(Number); return { c: n.slice(0, 3), a: n[3] ?? 1 }; };
  const light = (c) => c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const b = rgb(getComputedStyle(e).backgroundColor); if (b.a === 1) return b.c; } return [255, 255, 255]; };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.checkVisibility({ checkVisibilityCSS: true }) || e.closest(".visually-hidden, noscript, .skip, title")) continue;
    texts++;
    const style = getComputedStyle(e);
    const [a, b] = [light(rgb(e.closest("svg") ? style.fill : style.color).c), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (e.closest(":disabled, [aria-disabled]") ? 3 : 4.5)) poor.add(`${e.tagName}.${e.className?.baseVal ?? e.className} ${ratio.toFixed(2)} "${walker.currentNode.textContent.trim().slice(0, 30)}"`);
  }
  return texts > 3 ? [...poor] : ["there is no text"];
}

// end says that all went well, if it did.
export async function end() {
  assert.equal(ran, false, "a planted value ran");
  assert.deepEqual(outside, [], "the page asked another host");
  assert.deepEqual(wrong, [], "the page broke its own rules");
  await context.close();
  console.log("console ok");
  process.exit(0);
}

process.on("uncaughtException", async (e) => {
  console.error(e, wrong, outside, await page.locator("body").innerText().catch(() => ""));
  if (shots) await page.screenshot({ path: join(shots, "failed.png"), fullPage: true }).catch(() => {});
  process.exit(1);
});
await controls();
