# A report as an Excel file with two sheets, formulas and a chart; read back.
import io
from collections import defaultdict
from decimal import Decimal
from openpyxl import Workbook, load_workbook
from openpyxl.chart import LineChart, Reference
from openpyxl.styles import Font, PatternFill

totals = defaultdict(lambda: defaultdict(Decimal))
for sale in sales:
    totals[sale["day"][:7]][sale["region"]] += Decimal(sale["amount"])
regions = sorted({sale["region"] for sale in sales})
book = Workbook()
sheet = book.active
sheet.title = "Months"
sheet.append(["month", *regions, "total"])
for row, month in enumerate(sorted(totals), 2):
    sheet.append([month, *(float(totals[month][region]) for region in regions), f"=SUM(B{row}:F{row})"])
for cell in sheet[1]:
    cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDEEFF")
for column in "BCDEFG":
    sheet.column_dimensions[column].width = 14
    for cell in sheet[column][1:]:
        cell.number_format = "#,##0.00"
chart = LineChart()
chart.add_data(Reference(sheet, min_col=2, max_col=6, min_row=1, max_row=len(totals) + 1), titles_from_data=True)
sheet.add_chart(chart, "I2")
data = book.create_sheet("Sales")
data.append(list(sales[0]))
for sale in sales[:3000]:
    data.append(list(sale.values()))
data.auto_filter.ref = data.dimensions
file = io.BytesIO()
book.save(file)
again = load_workbook(file)
{
    "sheets": [[sheet.title, sheet.dimensions] for sheet in again], "head": [cell.value for cell in again["Months"][1]],
    "first": [cell.value for cell in again["Months"][2]], "last": [cell.value for cell in again["Months"][again["Months"].max_row]],
    "format": again["Months"]["B2"].number_format, "bold": again["Months"]["A1"].font.bold, "charts": len(again["Months"]._charts),
    "sale": [cell.value for cell in again["Sales"][1501]],
}
