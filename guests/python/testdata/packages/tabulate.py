from tabulate import tabulate

rows = [{"region": "north", "units": 12, "price": 1234.5}, {"region": "süd", "units": 7, "price": 0.25}]
[
    tabulate(rows, headers="keys", tablefmt=form, floatfmt=",.2f")
    for form in ("github", "grid", "html", "pipe", "tsv")
]
