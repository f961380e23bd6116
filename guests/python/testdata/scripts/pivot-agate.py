# Kinds by regions, as a pivot table with shares.
import agate

table = agate.Table.from_object(
    sales[:2500], column_types={
        "id": agate.Number(), "day": agate.Date(), "region": agate.Text(), "product": agate.Text(), "kind": agate.Text(), "units": agate.Number(),
        "amount": agate.Number(), "customer": agate.Number(),
    },
)
counts = table.pivot("kind", "region").order_by("kind")
money = table.pivot("kind", "region", agate.Sum("amount")).order_by("kind")
ranked = table.group_by("region").aggregate([
    ("n", agate.Count()), ("sum", agate.Sum("amount")), ("median", agate.Median("amount")), ("units", agate.Sum("units")),
]).compute([("share", agate.Percent("sum")), ("rank", agate.Rank("sum", reverse=True))]).order_by("rank")
{
    "counts": [list(map(str, row)) for row in counts.rows], "money": [list(map(str, row)) for row in money.rows],
    "ranked": [[row["region"], str(row["n"]), str(row["sum"]), str(row["median"]), str(row["units"]), f"{row['share']:.6f}", str(row["rank"])] for row in ranked.rows],
}
