import hashlib
import leather

chart = leather.Chart("Units by region")
chart.add_columns([("north", 12), ("south", 7), ("east", 30)])
columns = chart.to_svg()
lines = leather.Chart("Course")
lines.add_line([(0, 3), (4, 5), (7, 9), (8, 4)], name="a")
lines.add_dots([(0, 4), (1, 3), (2, 5), (5, 6)], name="b")
drawn = lines.to_svg()
[columns.count("<rect"), drawn.count("<circle"), [hashlib.sha256(svg.encode()).hexdigest() for svg in (columns, drawn)]]
