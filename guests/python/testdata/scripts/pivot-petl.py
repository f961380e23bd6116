# Months by regions with petl, then the long form again.
import petl as etl

table = etl.fromdicts(sales).convert("amount", float).addfield("month", lambda row: row.day[:7]).convert("units", lambda units: units or 0)
pivot = etl.pivot(table, "month", "region", "units", sum, missing=0)
long = etl.melt(pivot, key="month", variablefield="region", valuefield="units")
{
    "head": list(etl.header(pivot)), "rows": [list(row) for row in etl.data(pivot)], "long": etl.nrows(long),
    "best": [list(row) for row in etl.sort(long, "units", reverse=True).head(3).data()],
}
