import html5lib

tree = html5lib.parse("<table><tr><td>1<p>2</table><b><i>x</b>y</i>&nbsp;&eacute;", namespaceHTMLElements=False)
walker = html5lib.getTreeWalker("etree")
{
    "tags": [node.tag for node in tree.iter()],
    "written": html5lib.serialize(tree, omit_optional_tags=False, quote_attr_values="always"),
    "errors": len(html5lib.HTMLParser().parseFragment("<p></b>")),
    "tokens": sum(1 for _ in walker(tree)),
}
