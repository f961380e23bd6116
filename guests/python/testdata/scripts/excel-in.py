# An Excel file that somebody else made (here by another library): find the table
# under its title, take the types as they come, and add it up.
import datetime
import io
import xlsxwriter
from openpyxl import load_workbook

file = io.BytesIO()
with xlsxwriter.Workbook(file, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
    sheet = book.add_worksheet("Export")
    sheet.write("A1", "Sales, exported")
    sheet.write_row("B4", ["Day", "Region", "Units", "Amount"])
    for n, sale in enumerate(sales[:4000], 4):
        sheet.write_datetime(n, 1, datetime.datetime.fromisoformat(sale["day"]))
        sheet.write(n, 2, sale["region"])
        if sale["units"] is not None:
            sheet.write(n, 3, sale["units"])
        sheet.write(n, 4, float(sale["amount"]))

table = load_workbook(file, read_only=True, data_only=True)["Export"].iter_rows(values_only=True)
for row in table:
    if "Region" in row:
        names = [name.lower() if name else None for name in row]
        break
rows = [{name: value for name, value in zip(names, row) if name} for row in table]
by_year = {}
for row in rows:
    year = by_year.setdefault(str(row["day"].year), {"rows": 0, "units": 0, "amount": 0.0, "unknown": 0})
    year["rows"] += 1
    year["units"] += row["units"] or 0
    year["unknown"] += row["units"] is None
    year["amount"] = round(year["amount"] + row["amount"], 2)
{"names": names, "rows": len(rows), "first": [str(v) for v in rows[0].values()], "years": by_year}
