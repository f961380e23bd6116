import datetime
import io
import zipfile
import xlsxwriter
from openpyxl import load_workbook

out = io.BytesIO()
book = xlsxwriter.Workbook(out, {"in_memory": True})
book.set_properties({"created": datetime.datetime(2024, 1, 1)})
sheet = book.add_worksheet("Report")
bold, money = book.add_format({"bold": True}), book.add_format({"num_format": "#,##0.00"})
sheet.write_row(0, 0, ["region", "amount"], bold)
for n, (region, amount) in enumerate([("north", 1234.5), ("süd", 7)], 1):
    sheet.write(n, 0, region)
    sheet.write_number(n, 1, amount, money)
sheet.write_formula("B4", "=SUM(B2:B3)", money, 1241.5)
sheet.conditional_format("B2:B3", {"type": "3_color_scale"})
chart = book.add_chart({"type": "pie"})
chart.add_series({"values": "=Report!$B$2:$B$3", "categories": "=Report!$A$2:$A$3"})
sheet.insert_chart("D2", chart)
book.close()
names = zipfile.ZipFile(out).namelist()
read = load_workbook(out, data_only=True)["Report"]
[names, [list(row) for row in read.iter_rows(values_only=True)], read["B2"].number_format, read["A1"].font.b]
