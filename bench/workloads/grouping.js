// The kind of thing that rows are for: filter, group, sort, sum.
const rows = Array.from({ length: 40000 }, (_, i) => ({
  id: i, region: ["north", "south", "east", "west"][i % 4], units: (i * 7919) % 101, price: ((i * 104729) % 9973) / 100, tags: [i % 5, i % 7],
}));
const groups = {};
for (const r of rows) (groups[r.region] ??= []).push(r);
const totals = Object.entries(groups).map(([region, list]) => ({
  region, count: list.length, revenue: Math.round(list.reduce((sum, r) => sum + r.units * r.price, 0)),
}));
const top = rows.filter((r) => r.units > 50).map(({ id, units, price }) => ({ id, value: units * price })).sort((a, b) => b.value - a.value || a.id - b.id).slice(0, 5);
const byTag = new Map();
for (const { tags, units } of rows) for (const tag of tags) byTag.set(tag, (byTag.get(tag) ?? 0) + units);
[totals.sort((a, b) => a.region < b.region ? -1 : 1), top.map((t) => t.id), [...byTag]]
