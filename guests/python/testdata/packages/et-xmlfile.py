import io
from xml.etree.ElementTree import Element
from et_xmlfile import xmlfile

out = io.BytesIO()
with xmlfile(out) as file, file.element("rows", {"n": "2"}):
    for n in range(2):
        row = Element("row", {"at": str(n)})
        row.text = "<&>"
        file.write(row)
out.getvalue().decode()
