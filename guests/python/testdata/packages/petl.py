import petl as etl

sales = [["region", "month", "units"], ["north", "jan", "3"], ["south", "jan", "5"], ["north", "feb", "4"], ["south", "feb", "x"]]
names = [["region", "manager"], ["north", "Ada"], ["south", "Bob"]]
table = etl.wrap(sales).convert("units", int, failonerror=False, errorvalue=None).addfield("double", lambda row: (row.units or 0) * 2)
{
    "rows": [list(row) for row in table], "pivot": [list(row) for row in etl.pivot(table, "region", "month", "double", sum)],
    "joined": [list(row) for row in etl.join(table, names, key="region").cut("region", "manager", "double").sort("double", reverse=True)],
    "sums": [list(row) for row in etl.aggregate(table, "region", {"total": ("double", sum), "n": len})],
    "look": str(etl.look(table)), "csv": [list(row) for row in etl.fromcsv(etl.MemorySource(b"a,b\n1,2\n"))],
    "missing": [list(row) for row in table.selectnone("units")], "long": [list(row) for row in etl.melt(sales, key=["region", "month"])][:3],
}
