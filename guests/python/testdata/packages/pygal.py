import re
import pygal
from pygal.style import LightColorizedStyle

bars = pygal.Bar(title="Units by region", style=LightColorizedStyle, x_labels=["jan", "feb"], disable_xml_declaration=True, no_data_text="none", js=[])
bars.add("north", [12, 7])
bars.add("south", [3.5, None])
drawings = [bars, pygal.Line(), pygal.Pie(inner_radius=0.4), pygal.Radar(), pygal.Box(), pygal.StackedBar(), pygal.Histogram(), pygal.XY()]
for drawing in drawings[1:6]:
    drawing.add("a", [1, 4, 2, 8])
    drawing.add("b", [3, 1, 6, 5])
drawings[6].add("h", [(5, 0, 10), (4, 5, 13)])
drawings[7].add("p", [(0, 0), (1.5, 2), (3, 1)])
texts = [drawing.render(is_unicode=True) for drawing in drawings]
# Each has an identity of its own, made of random digits.
plain = [re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+", "ID", text) for text in texts]
[[len(text), text.count("<path"), text.count("<rect"), "north" in text, "font-family" in text] for text in plain]
