# The same kind of chart with the smaller library, and a grid of two.
import hashlib
from statistics import fmean
import leather

days = {}
for row in stations:
    days.setdefault(row["station"], {}).setdefault(row["hour"] // 24, []).append(row["celsius"])
lines = leather.Chart("Mean temperature by day")
for name, values in sorted(days.items()):
    lines.add_line([(day, round(fmean(v), 3)) for day, v in sorted(values.items())], name=name)
svg = lines.to_svg(width=800, height=400)
{"lines": svg.count("<path"), "bytes": len(svg), "digest": hashlib.sha256(svg.encode()).hexdigest(), "names": [name in svg for name in days], "whole": svg.rstrip().endswith("</svg>")}
