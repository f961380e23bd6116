import defusedxml
from defusedxml.ElementTree import fromstring

bomb = """<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>"""


def outcome(text):
    try:
        return [child.tag + "=" + (child.text or "") for child in fromstring(text)]
    except defusedxml.DefusedXmlException as e:
        return type(e).__name__


[outcome("<r><a>1</a><b/></r>"), outcome(bomb), outcome('<!DOCTYPE x SYSTEM "file:///etc/passwd"><x>1</x>')]
