import datetime
import io
import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Sales"
sheet.append(["day", "region", "units"])
for n in range(5):
    sheet.append([datetime.date(2024, 1, 1 + n), "north" if n % 2 else "süd", n * 1.5])
sheet["C7"] = "=SUM(C2:C6)"
sheet["A1"].font = Font(bold=True)
sheet.freeze_panes = "A2"
chart = BarChart()
chart.add_data(Reference(sheet, min_col=3, min_row=1, max_row=6), titles_from_data=True)
sheet.add_chart(chart, "E2")
book.create_sheet("Notes")["B2"] = "text"
out = io.BytesIO()
book.save(out)
again = openpyxl.load_workbook(io.BytesIO(out.getvalue()))
read = openpyxl.load_workbook(io.BytesIO(out.getvalue()), read_only=True)
{
    "sheets": again.sheetnames,
    "rows": [[str(cell) for cell in row] for row in again["Sales"].iter_rows(values_only=True)],
    "bold": again["Sales"]["A1"].font.bold, "charts": len(again["Sales"]._charts), "size": again["Sales"].dimensions,
    "streamed": [row[2] for row in read["Sales"].iter_rows(min_row=2, max_row=4, values_only=True)], "column": get_column_letter(28),
}
