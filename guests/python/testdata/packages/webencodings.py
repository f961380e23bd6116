import webencodings

[webencodings.lookup("latin1").name, webencodings.decode(b"\xef\xbb\xbfa\xc3\xa9", "latin1")[0], webencodings.encode("€", "windows-1252").hex()]
