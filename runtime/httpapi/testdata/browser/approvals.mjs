// Answers approvals with the keyboard alone.
import assert from "node:assert/strict";
import { end, enter, expected, host, look, page, tabTo, until } from "./page.mjs";

const small = "9007199254740993", big = "1234567890123456789012345678901234567890";
const card = (text) => page.locator("article[data-approval]", { hasText: text });
const focused = () => page.evaluate(() => document.activeElement.closest("article")?.innerText ?? document.activeElement.innerText);

await enter("root");
await card('"edited"').waitFor();
assert.equal(await page.locator("#waiting").innerText(), "4");
const shown = await card("first").innerText();
assert.match(shown, /<img src=x onerror=/, "the exact arguments are shown as text");
assert.ok(shown.includes(big), "numbers keep their digits");
assert.match(shown, /\\u202e|\\u\{202e\}/, "characters that reorder text are shown as escapes");
await look("queue");

// Edit: what is no JSON cannot be approved; what was changed is shown, with all
// digits; what comes meanwhile does not disturb.
const edit = card('"edited"');
const id = await edit.getAttribute("data-approval");
await tabTo("Edit the arguments", `[data-approval="${id}"]`);
await page.keyboard.press("Enter");
const approveEdited = edit.getByRole("button", { name: "Approve as edited" });
assert.ok(await approveEdited.isDisabled(), "nothing was changed, and can be approved as edited");
await tabTo("Arguments to approve instead", `[data-approval="${id}"]`);
await page.keyboard.press("Control+A");
await page.keyboard.type('{ "id": "edited", "usd": ', { delay: 0 });
assert.ok(await approveEdited.isDisabled(), "what is no JSON can be approved");
assert.match(await edit.innerText(), /not JSON yet: line 1/);
await host("ask");
await card('"late"').waitFor();
await page.keyboard.type(big + " }");
assert.equal((await edit.locator("del").allInnerTexts()).join(), `-   "usd": ${small}`);
assert.equal((await edit.locator("ins").allInnerTexts()).join(), `+   "usd": ${big}`);
await look("edit");
await tabTo("Approve as edited", `[data-approval="${id}"]`);
await page.keyboard.press("Enter");
await page.getByText("Done. The agent can repeat the call now.").waitFor();
await until(async () => (await edit.innerText()).includes("Approved with changes"), "the edited approval is not shown as answered");
assert.ok((await edit.locator("ins").innerText()).includes(big) && (await edit.locator("del").innerText()).includes(small));

// The next question has the focus. Approve with a reason, then reject.
await until(async () => (await focused()).includes("pending"), "no question has the focus after an answer");
await tabTo("Reason", `article:has([aria-label^="Arguments"])`);
await page.keyboard.type("as agreed <img src=x onerror=pwned()>");
await tabTo("Approve once");
await page.keyboard.press("Enter");
await page.getByText("as agreed <img").waitFor();
await until(async () => (await focused()).includes("pending"), "no question has the focus after an answer");
await tabTo("Reject");
await page.keyboard.press("Enter");
await page.getByText("Rejected.", { exact: true }).waitFor();

// Who lost a race is told, and whoever may not answer sees why.
for (let left = 2; left > 0; left--) {
  await until(async () => (await focused()).includes("pending"), "no question has the focus");
  await tabTo("Approve once");
  await page.keyboard.press("Enter");
  await until(async () => (left > 1 ? (await page.locator("#waiting").innerText()) === String(left - 1) : await page.locator("#waiting").isHidden()), "the count is wrong");
}
await until(async () => (await focused()).includes("Nothing waits"), "the focus is lost after the last answer");
await look("answered");
await page.getByRole("button", { name: "Sign out" }).click();
expected.push("403 (Forbidden)");
await host("ask");
await enter("agent");
await card('"late"').first().waitFor();
assert.match(await page.locator("main").innerText(), /Nobody answers their own calls/);
assert.equal(await page.getByRole("button", { name: "Approve once" }).count(), 0);

// Arguments that a list has no room for have to be looked at before they are approved.
await page.getByRole("button", { name: "Sign out" }).click();
await host("fill");
await enter("root");
const long = card("too long for this list");
await long.waitFor();
assert.equal(await long.count(), 1);
assert.equal(await long.getByRole("button", { name: "Approve once" }).count(), 0, "what is not shown can be approved");
const name = await long.getAttribute("data-approval");
await tabTo("Show the arguments", `[data-approval="${name}"]`);
await page.keyboard.press("Enter");
const whole = page.locator(`[data-approval="${name}"]`);
await whole.getByRole("button", { name: "Approve once" }).waitFor();
assert.match(await whole.innerText(), /"long0x{1000}/);
assert.ok((await focused()).includes("pending"), "the focus is lost");
await end();
