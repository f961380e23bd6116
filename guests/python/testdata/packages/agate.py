import agate

rows = [("north", "2024-01-05", "1,250.50", True), ("south", "2024-01-07", "980", False), ("north", "2024-02-01", None, True),
        ("east", "2024-02-11", "-3.25", False), ("south", "2024-03-02", "41.75", True)]
table = agate.Table(rows, ["region", "day", "amount", "paid"], [agate.Text(), agate.Date(), agate.Number(), agate.Boolean()])
by_region = table.group_by("region").aggregate([
    ("count", agate.Count()), ("total", agate.Sum("amount")), ("largest", agate.Max("amount")),
]).order_by("region")
{
    "rows": [list(map(str, row)) for row in by_region.rows],
    "median": str(table.aggregate(agate.Median("amount"))),
    "pivot": [list(map(str, row)) for row in table.pivot("region", "paid").rows],
    "paid": [str(row["day"]) for row in table.where(lambda row: row["paid"]).rows],
    "names": list(table.select(["region", "amount"]).rename(slug_columns=True, column_names={"amount": "The Amount"}).column_names),
}
