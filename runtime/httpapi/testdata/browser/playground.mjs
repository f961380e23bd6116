// Runs code on rows that are dropped in.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { end, enter, expected, look, page, until } from "./page.mjs";

const small = "9007199254740993", big = "1234567890123456789012345678901234567890";
expected.push("422 (Unprocessable Entity)", "400 (Bad Request)");
await enter("agent");
await page.getByRole("link", { name: "Playground" }).click();
const result = page.locator("#result");

// run gives the outcome of the code.
async function run(code) {
  await page.locator("#code").fill(code);
  await page.locator("#code").press("Control+Enter");
  await until(async () => !(await page.getByRole("button", { name: "Run", exact: true }).getAttribute("aria-disabled")), "the call does not end");
  return (await result.locator(".tag").count()) ? result.locator(".tag").innerText() : result.innerText();
}
const drop = async (name, content) => {
  const data = await page.evaluateHandle(([name, content]) => {
    const d = new DataTransfer();
    d.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name));
    return d;
  }, [name, Buffer.from(content).toString("base64")]);
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer: data });
  await page.getByText(name + " was read.").waitFor();
};
const cells = async () => (await result.locator("tbody tr").allInnerTexts()).map((r) => r.split(/\s+/).filter(Boolean));
const show = (name) => result.getByRole("button", { name, exact: true }).click();

await page.setViewportSize({ width: 1200, height: 900 });
// What is there at first gives a table and a chart.
await page.getByRole("button", { name: "Run", exact: true }).click();
await result.locator("tbody tr").first().waitFor();
assert.deepEqual(await cells(), [["north", "15"], ["south", "25"]]);
await show("Chart");
const bars = await result.locator("svg.chart rect").evaluateAll((all) => all.map((b) => b.getBoundingClientRect().width));
assert.equal(bars.length, 2);
assert.ok(Math.abs(bars[0] / bars[1] - 15 / 25) < 0.01, "the bars have the wrong length: " + bars);
assert.match(await result.locator("svg.chart").getAttribute("aria-label"), /north 15, south 25/);
await look("chart");

// CSV and JSON rows, dropped; a file that was chosen.
await drop("sales.csv", `item,units,id\n<img src=x onerror=pwned()>,3,${small}\ncake,4,${big}\n`);
assert.equal(await run("rows"), "ok");
assert.deepEqual(await cells(), [["<img", "src=x", "onerror=pwned()>", "3", small], ["cake", "4", big]]);
await show("JSON");
assert.ok((await result.innerText()).includes(`"id": ${big}`));
await drop("sales.json", `[{"item": "tea", "units": 5, "id": ${big}}, {"item": "cake", "units": 2, "id": ${small}}]`);
assert.equal(await run("[r['id'] for r in rows if r['units'] > 3] + [2**53 + 1]"), "ok");
await show("JSON");
assert.deepEqual((await result.locator("pre").innerText()).match(/\d+/g), [big, small]);
await page.locator("input[type=file]").setInputFiles({ name: "more.jsonl", mimeType: "text/plain", buffer: Buffer.from('{"units": 7}\n{"units": 9}\n') });
await page.getByText("more.jsonl was read.").waitFor();

// What is no text: Parquet, Excel with another sheet, packed text.
const orders = (name) => readFileSync(join(process.env.CONSOLE_FILES, name));
await drop("orders.parquet", orders("orders.parquet"));
assert.equal(await page.locator("#rows").isVisible(), false, "what was typed is still there beside the file");
assert.equal(await run("rows"), "ok");
assert.deepEqual(await cells(), [["north", small], ["south", "4"]]);
await look("parquet");
await page.getByRole("link", { name: "Tools" }).click();
await page.getByRole("link", { name: "Playground" }).click();
assert.equal(await run("rows"), "ok", "a file is kept while the tab is");
await drop("orders.xlsx", orders("orders.xlsx"));
assert.equal(await run("rows"), "ok");
assert.deepEqual(await cells(), [["west", "11"]]);
await page.getByLabel("Sheet").fill("Second");
assert.equal(await run("rows"), "ok");
assert.deepEqual(await cells(), [["east", "22"]]);
await page.getByLabel("Sheet").fill("Third");
assert.match(await run("rows"), /orders\.xlsx.*Third|Third/);
await page.getByLabel("Sheet").fill("");
await drop("sales.json.gz", gzipSync(`[{"n": ${big}}]`));
assert.equal(await page.getByLabel("Sheet").count(), 0);
assert.equal(await run("rows[0]['n'] + 1"), "ok");
assert.ok((await result.innerText()).includes(String(BigInt(big) + 1n)));
const plain = Buffer.from("a\tb\n1\t2\n"); // in a frame of one raw block
await drop("sales.tsv.zst", Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, plain.length, (plain.length << 3) | 1, 0, 0]), plain]));
assert.equal(await run("rows"), "ok");
assert.deepEqual(await cells(), [["1", "2"]]);
await drop("bad.csv.gz", gzipSync("a,b\n1,2\n").subarray(0, 20));
assert.match(await run("rows"), /bad\.csv\.gz/);
await look("bad-packed");
await page.getByRole("button", { name: "Remove" }).press("Enter");
assert.equal(await page.locator("#rows").isVisible(), true);
assert.equal(await page.evaluate(() => document.activeElement.id), "rows");
// A name tells what the text does not: an object on one line.
await drop("one.json", '{"a": 1}');
await run("rows");
const asJSON = await result.innerText();
await page.locator("#rows").fill('{"a": 1}');
assert.equal(await run("len(rows)"), "ok");
assert.notEqual(await result.innerText(), asJSON);
for (const [name, content] of [["latin1.csv", Buffer.from([0x61, 0xe9, 0x0a])], ["large.parquet", Buffer.concat([Buffer.from("PAR1"), Buffer.alloc(7_000_000)])]]) {
  const data = await page.evaluateHandle(([name, content]) => {
    const d = new DataTransfer();
    d.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name));
    return d;
  }, [name, content.toString("base64")]);
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer: data });
  await page.getByText(new RegExp(`${name} is (neither|too large)`)).waitFor();
}
assert.equal(await page.locator("#rows").inputValue(), '{"a": 1}', "what could not be read took the place of what was there");
await drop("more.jsonl", '{"units": 7}\n{"units": 9}\n');

// JavaScript.
await page.getByLabel("Language").selectOption("js");
assert.equal(await run("rows.map((r) => ({ units: r.units, twice: r.units * 2, big: 2n ** 53n + 1n }))"), "ok");
assert.deepEqual(await cells(), [["7", "14", small], ["9", "18", small]]);
await look("table");
assert.equal(await run("throw new TypeError('<img src=x onerror=pwned()>')"), "tool error");
assert.match(await result.innerText(), /TypeError: <img src=x onerror=pwned\(\)>/);
await page.getByLabel("Language").selectOption("python");

// Errors and limits.
assert.equal(await run("print('<script>pwned()</script>')\n1/0"), "tool error");
assert.match(await result.innerText(), /ZeroDivisionError: division by zero\. Line 2\./);
assert.match(await result.innerText(), /<script>pwned/);
await look("error");
await page.getByLabel("Timeout, ms").fill("200");
assert.equal(await run("while True: pass"), "timeout");
assert.match(await result.innerText(), /Timeout/);
await look("timeout");
await page.getByLabel("Timeout, ms").fill("");
await page.getByLabel("Memory, MB").fill("2");
assert.equal(await run("len(bytearray(40_000_000))"), "memory limit");
assert.match(await result.innerText(), /MemoryError/);
await page.getByLabel("Memory, MB").fill("");
assert.equal(await run("len(bytearray(40_000_000))"), "ok", "the limit, and nothing else, ended it");

// Rows that cannot be read say where.
await page.locator("#rows").fill('[{"a": 1},');
assert.match(await run("rows"), /rows|text/);
assert.equal(await result.getByRole("alert").count(), 1);
await look("bad-rows");
await end();
