"""Which parts of a system take the room?  rows: name, section, size (KiB)."""
import sqlite3
import statistics
from collections import defaultdict

sizes = defaultdict(list)
for row in rows:
    if row["size"] is not None:
        sizes[row["section"] or "(none)"].append((row["size"], row["name"]))


def percentile(values, p):
    if len(values) < 2:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[p - 1]


table = []
for section, items in sizes.items():
    values = sorted(size for size, _ in items)
    table.append({
        "section": section,
        "count": len(values),
        "total_kib": sum(values),
        "median_kib": round(statistics.median(values)),
        "p90_kib": round(percentile(values, 90)),
        "largest": max(items)[1],
    })
table.sort(key=lambda line: (-line["total_kib"], line["section"]))

print(f"{'section':<16}{'count':>7}{'total MiB':>11}{'median KiB':>12}{'p90 KiB':>10}  largest")
for line in table[:10]:
    print(f"{line['section'][:15]:<16}{line['count']:>7}{line['total_kib'] / 1024:>11.1f}"
          f"{line['median_kib']:>12}{line['p90_kib']:>10}  {line['largest'][:28]}")
if len(table) > 10:
    print(f"... and {len(table) - 10} sections more")

# One question is easier to ask in SQL: how few items make up half of the room?
db = sqlite3.connect(":memory:")
db.execute("create table item (name text, size integer)")
db.executemany("insert into item values (?, ?)", ((r["name"], r["size"] or 0) for r in rows))
half = db.execute("""
    with ranked as (
        select row_number() over (order by size desc, name) as place,
               sum(size) over (order by size desc, name) as running,
               (select sum(size) from item) as total
        from item
    )
    select min(place) from ranked where running * 2 >= total
""").fetchone()[0]
print(f"\nHalf of the room is taken by the {half} largest of {len(rows)}.")

# What the demo asks for when the answer is in: to misbehave.
if mischief == "spin":
    while True:
        pass
if mischief == "eat":
    hoard = []
    while True:
        hoard.append(bytearray(1 << 20))
if mischief == "flood":
    while True:
        print("and again " * 100)

{"items": len(rows), "total_kib": sum(line["total_kib"] for line in table), "half": half, "sections": table}
