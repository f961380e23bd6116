import six
from six.moves import range as moved_range
from six.moves.urllib.parse import urlencode

[six.PY3, six.text_type("é"), list(moved_range(3)), urlencode({"a": 1, "b": "x y"}), six.ensure_str(b"abc")]
