// Files in and out: rows that people drop in, and what code handed back.
import { bytes, el } from "./dom.js";

// Beginnings of files that are no text, and that the server reads: Parquet, Excel
// (a zip), gzip and zstd.
const beginnings = [[0x50, 0x41, 0x52, 0x31], [0x50, 0x4b, 0x03, 0x04], [0x1f, 0x8b], [0x28, 0xb5, 0x2f, 0xfd]];

// readFile gives the text of a file, or its data in base64, which is a third longer.
export async function readFile(file, most) {
  const tooLarge = (limit) => new Error(`${file.name} is too large: it has ${bytes(file.size)}, and may have ${bytes(limit)}.`);
  if (file.size > most) throw tooLarge(most);
  const content = new Uint8Array(await file.arrayBuffer());
  const begins = (with_) => with_.every((b, i) => content[i] === b);
  if (beginnings.some(begins)) {
    const limit = Math.floor((most * 3) / 4) - 4096; // room for the code
    if (file.size > limit) throw tooLarge(limit);
    return { name: file.name, size: file.size, data: await base64(file), workbook: begins(beginnings[1]) };
  }
  try {
    return { name: file.name, size: file.size, text: new TextDecoder("utf-8", { fatal: true }).decode(content) };
  } catch {
    throw new Error(`${file.name} is neither UTF-8 text nor Parquet, Excel, gzip or zstd.`);
  }
}

const base64 = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
  reader.readAsDataURL(file);
});

// pictures are the types that are shown. In an image no script of SVG runs and
// nothing that it refers to is loaded; a data URL, unlike one of a blob, is not of
// this page's origin, wherever somebody opens it.
const pictures = ["image/svg+xml", "image/png", "image/jpeg", "image/gif"];

// artifacts shows the files that code handed back.
export function artifacts(list) {
  if (!list?.length) return null;
  return el("section", { "aria-label": "Files" }, el("h3", {}, "Files"), list.map(artifact));
}

function artifact({ name, media_type: type, bytes: data, withheld }) {
  if (withheld) return el("p", {}, el("span", { class: "mono" }, name), " ", el("span", { class: "dim" }, "is withheld: " + withheld));
  const size = (data.length / 4) * 3 - (/=*$/.exec(data)[0].length);
  const caption = [el("span", { class: "mono" }, name), " ", el("span", { class: "dim" }, bytes(size)), " ",
    el("button", { type: "button", "aria-label": "Download " + name, onclick: () => save(name, data) }, "Download")];
  if (!pictures.includes(type)) return el("p", { class: "row" }, caption);
  const picture = el("img", { alt: name, src: `data:${type};base64,${data}`, onerror: () => picture.replaceWith(el("p", { class: "dim" }, "This is no picture that can be shown.")) });
  return el("figure", { class: "artifact" }, picture, el("figcaption", { class: "row" }, caption));
}

// save has the browser keep a file. It is bytes to it, whatever is in it, so that
// none is ever opened as a page of this server.
function save(name, data) {
  const content = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
