// Looks at what code handed back: pictures, hostile ones too, and other files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { context, end, enter, look, page, until } from "./page.mjs";

const trap = process.env.CONSOLE_TRAP;

// hostile is a picture that asks trap in every way there is, and that runs pwned.
const hostile = (where) => `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="300" height="200" onload="fetch('${where}/script'); pwned()">
<style>@import url("${where}/style"); rect { fill: #1d6a45; }</style>
<script>fetch("${where}/script"); pwned();</script>
<image href="${where}/image" width="10" height="10"/>
<use href="${where}/use#a"/>
<foreignObject width="100" height="100"><body xmlns="http://www.w3.org/1999/xhtml"><img src="${where}/foreign" onerror="pwned()"/><iframe src="${where}/foreign"></iframe></body></foreignObject>
<rect x="20" y="20" width="200" height="100"/>
<a href="javascript:pwned()"><text x="30" y="60">A chart</text></a>
</svg>`;

// free is a page where there are no rules, of the trap's own origin, because use
// asks no other. There the picture does all that, and then is done.
async function free() {
  const page = await context.newPage();
  let ran = false;
  await page.exposeFunction("pwned", () => { ran = true; });
  await page.goto(trap + "/control/");
  await page.setContent(hostile(trap + "/control"));
  await until(() => ran, "the control does not run");
  await page.waitForLoadState("networkidle");
  return page;
}

const control = await free();
// The browser makes the pictures of other kinds.
const drawn = await control.evaluate(() => {
  const canvas = document.createElement("canvas");
  canvas.width = 40; canvas.height = 30;
  canvas.getContext("2d").fillRect(5, 5, 20, 10);
  return ["image/png", "image/jpeg"].map((t) => canvas.toDataURL(t).split(",")[1]);
});
await control.close();
const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.from([2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x54, 0, 0x3b])]).toString("base64");

await enter("agent");
await page.getByRole("link", { name: "Playground" }).click();
const result = page.locator("#result");
const run = async (code) => {
  await page.locator("#code").fill(code);
  await page.locator("#code").press("Control+Enter");
  await until(async () => !(await page.getByRole("button", { name: "Run", exact: true }).getAttribute("aria-disabled")), "the call does not end");
  assert.equal(await result.locator(".tag").innerText(), "ok", await result.innerText());
};
const hand = (files) => `import base64\nfrom mayfly import artifact\n` +
  files.map(([name, data]) => `artifact(${JSON.stringify(name)}, base64.b64decode(${JSON.stringify(data)}))`).join("\n") + "\n'done'";
const b64 = (text) => Buffer.from(text).toString("base64");

// Pictures of each kind are shown.
await run(hand([["a.png", drawn[0]], ["b.jpeg", drawn[1]], ["c.gif", gif], ["d.svg", b64(`<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>`)]]));
const sizes = () => result.locator("figure img").evaluateAll((all) => Promise.all(all.map(async (i) => { await i.decode().catch(() => {}); return [i.alt, i.naturalWidth, i.naturalHeight]; })));
assert.deepEqual(await sizes(), [["a.png", 40, 30], ["b.jpeg", 40, 30], ["c.gif", 2, 1], ["d.svg", 30, 20]]);
await look("pictures");

// The hostile one is a picture and nothing else.
await run(hand([["hostile.svg", b64(hostile(trap + "/shown"))]]));
await until(async () => (await result.locator("figure img").count()) === 1 && (await sizes())[0][1] === 300, "the picture is not shown");
// The console's own stream of events never ends, so that its page is never idle:
// what the picture would ask it has asked when a later one has got everything.
await (await free()).close();
const img = result.locator("figure img");
assert.match(await img.getAttribute("src"), /^data:image\/svg\+xml;base64,/);
assert.equal(await page.locator("main svg, main script, main iframe, main object, main embed").count(), 0, "the picture is in the page itself");
await img.click(); // its link leads nowhere
assert.ok(page.url().startsWith(process.env.CONSOLE_URL), page.url());
await look("hostile");

// A large one.
await run(`import struct, zlib, random
from mayfly import artifact
random.seed(1)
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
w, h = 1200, 1200
raw = b"".join(b"\\0" + random.randbytes(3 * w) for _ in range(h))
artifact("large.png", b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw, 0)) + chunk(b"IEND", b""))`);
await until(async () => (await sizes())[0]?.[1] === 1200, "the large picture is not shown");
assert.match(await result.innerText(), /large\.png\s+4\.3 MB/);

// What is no picture, or is none that can be shown, can be kept, as bytes.
const html = "<script>pwned()</script>";
await run(hand([["page.html", b64(html)], ["broken.png", b64("no picture")], ["empty.txt", ""]]));
await page.getByText("This is no picture that can be shown.").waitFor();
assert.equal(await result.locator("figure img").count(), 0);
assert.match(await result.innerText(), /page\.html\s+24 bytes/);
assert.match(await result.innerText(), /empty\.txt\s+0 bytes/);
await page.evaluate(() => {
  const make = URL.createObjectURL;
  window.made = [];
  URL.createObjectURL = (blob) => { window.made.push(blob.type); return make.call(URL, blob); };
});
const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download page.html" }).press("Enter")]);
assert.equal(file.suggestedFilename(), "page.html");
assert.equal(readFileSync(await file.path(), "utf8"), html);
assert.deepEqual(await page.evaluate(() => window.made), ["application/octet-stream"]);
await look("others");

// A server that does not check names, and why something is not given.
const shown = await page.evaluate(async () => {
  const { artifacts } = await import("/console/files.js");
  const evil = '<img src=x onerror=pwned()>\u202e"';
  const section = artifacts([{ name: evil, media_type: "image/svg+xml", bytes: "PHN2Zy8+" }, { name: evil, media_type: 'image/png" onerror="pwned()', bytes: "" }, { name: evil, media_type: "text/csv", withheld: evil }]);
  document.querySelector("#result").replaceChildren(section);
  return section.innerText;
});
assert.equal(shown.split("<img src=x onerror=pwned()>\\u{202e}").length, 5, shown);
assert.equal(await result.locator("img").count(), 0, "the planted names are elements");
await end();
