# A chart of the months: what is drawn is checked in the SVG.
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
import pygal

months = defaultdict(lambda: defaultdict(float))
for sale in sales:
    months[sale["day"][:7]][sale["kind"]] += float(sale["amount"])
kinds = sorted({sale["kind"] for sale in sales})
chart = pygal.StackedBar(title="Sales by month & kind", x_labels=sorted(months), x_label_rotation=45, width=900, height=420, js=[], no_prefix=True)
chart.value_formatter = lambda value: f"{value / 1000:,.1f} T"
for kind in kinds:
    chart.add(kind, [round(months[month][kind], 2) for month in sorted(months)])
svg = chart.render(is_unicode=True)
tree = ElementTree.fromstring(svg)
name = "{http://www.w3.org/2000/svg}"
{
    "viewBox": tree.get("viewBox"), "bars": len(tree.findall(f".//{name}rect[@class='rect reactive tooltip-trigger']")),
    "titles": [e.text for e in tree.iter(name + "text") if "title" in e.get("class", "")],
    "legend": [e.text for e in tree.iter(name + "text") if e.text in kinds], "values": re.findall(r'class="value">([^<]+)<', svg)[:5],
    "scripts": len(tree.findall(f".//{name}script[@href]")), "self-contained": "http://kozea" not in svg,
}
