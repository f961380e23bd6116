// JSON both ways, and regular expressions.
const data = Array.from({ length: 6000 }, (_, i) => ({ id: i, name: `name ${i}`, nested: { a: [1, 2, 3], b: null, c: i / 7 }, ok: i % 2 === 0 }));
let size = 0;
for (let round = 0; round < 4; round++) {
  const text = JSON.stringify(data);
  size += text.length;
  JSON.parse(text);
}
const log = Array.from({ length: 8000 }, (_, i) => `2024-0${1 + i % 9}-1${i % 9}T0${i % 9}:00:00Z host${i % 13} GET /p/${i}?q=${i * 3} ${200 + i % 5}`).join("\n");
let hits = 0;
for (const m of log.matchAll(/^(?<date>\d{4}-\d\d-\d\d)T(\S+) (?<host>host\d+) (GET|POST) (\S+?)\?q=(\d+) (\d{3})$/gm)) hits += m.groups.host.length + Number(m[7]);
[size > 0, hits, log.replace(/\d+/g, (d) => d.length).length]
