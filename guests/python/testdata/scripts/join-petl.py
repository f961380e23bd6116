# Sales with their customers: inner, left and anti join, and a total by segment.
import petl as etl
from decimal import Decimal

left = etl.fromdicts(sales).convert("amount", Decimal)
right = etl.fromdicts(customers)
both = etl.join(left, right, key="customer")
totals = etl.aggregate(both, "segment", {"amount": ("amount", sum), "n": len, "customers": ("customer", lambda values: len(set(values)))})
lost = etl.antijoin(left, right, key="customer")
{
    "rows": etl.nrows(both), "totals": [[str(v) for v in row] for row in totals.sort("segment").data()], "lost": etl.nrows(lost),
    "lost amount": str(sum(etl.values(lost, "amount"))), "left": etl.nrows(etl.leftjoin(left, right, key="customer")),
    "loyal": [list(row) for row in etl.aggregate(both, ("since",), len).sort("since").data()][:4],
}
