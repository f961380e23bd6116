// Text: building, splitting, searching, replacing.
const text = Array.from({ length: 20000 }, (_, i) => `line ${i} of the log: user${i % 37} did ${["read", "write", "scan"][i % 3]}`).join("\n");
const counts = {};
for (const line of text.split("\n")) {
  const user = line.slice(line.indexOf("user"), line.indexOf(" did"));
  counts[user] = (counts[user] || 0) + 1;
}
const upper = text.toUpperCase().replaceAll("LOG", "journal");
let caesar = "";
for (let i = 0; i < 60000; i++) {
  const c = text.charCodeAt(i);
  caesar += c >= 97 && c <= 122 ? String.fromCharCode((c - 97 + 13) % 26 + 97) : text[i];
}
const words = upper.match(/[A-Za-z]+/g).length;
const dates = text.replace(/user(\d+) did (\w+)/g, "$2:$1").length;
[Object.keys(counts).length, counts.user5, upper.length, caesar.length, words, dates]
