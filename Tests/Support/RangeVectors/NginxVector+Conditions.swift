private let middle = ("Range", "bytes=10-19")
private let before = "Sun, 06 Nov 1994 08:49:36 GMT"
private let after = "Sun, 06 Nov 1994 08:49:38 GMT"

extension NginxVector {
    static let ifRange: [NginxVector] = [
        .conditional("If-Range: the tag", [("If-Range", "{etag}"), middle], 206, range: 10...19),
        .conditional("If-Range: another tag", [("If-Range", "\"other\""), middle], 200),
        .conditional("If-Range: the tag, weak", [("If-Range", "W/{etag}"), middle], 200),
        .conditional("If-Range: the date", [("If-Range", "{date}"), middle], 206, range: 10...19),
        .conditional(
            "If-Range: the date as RFC 850", [("If-Range", "{date-rfc850}"), middle], 206,
            range: 10...19),
        .conditional("If-Range: a second earlier", [("If-Range", before), middle], 200),
        .conditional("If-Range: a second later", [("If-Range", after), middle], 200),
        .conditional("If-Range: without quotes", [("If-Range", "v1"), middle], 200),
        .conditional(
            "If-Range: the date as asctime", [("If-Range", "{date-asctime}"), middle], 206,
            range: 10...19),
        .conditional("If-Range: no date", [("If-Range", "yesterday"), middle], 200),
        .conditional("If-Range: the tag, open quote", [("If-Range", "\""), middle], 200),
        .conditional(
            "HEAD If-Range: the tag", [("If-Range", "{etag}"), middle], 200, method: "HEAD",
            nginx: .init(206, "RFC 9110 §14.2 defines ranges for GET only")),
        .conditional(
            "If-Range twice", [("If-Range", "{etag}"), ("If-Range", "{etag}"), middle], 200,
            nginx: .init(
                400, "refuses two fields; RFC 9110 §5.3 has lists joined, §13.1.5 one value")),
        .conditional("If-Range: a list", [("If-Range", "\"other\", {etag}"), middle], 200),
        .conditional("If-Range: a star", [("If-Range", "*"), middle], 200),
        .conditional("If-Range: empty", [("If-Range", ""), middle], 200),
        .conditional("If-Range without Range", [("If-Range", "{etag}")], 200),
        .conditional(
            "If-Range: the tag, nothing there",
            [("If-Range", "{etag}"), ("Range", "bytes=100-")], 416),
        .conditional(
            "If-Range: another tag, nothing there",
            [("If-Range", "\"other\""), ("Range", "bytes=100-")], 200),
    ]

    static let cache: [NginxVector] = [
        .conditional("If-None-Match: the tag", [("If-None-Match", "{etag}")], 304),
        .conditional("If-None-Match: the tag, weak", [("If-None-Match", "W/{etag}")], 304),
        .conditional("If-None-Match: any", [("If-None-Match", "*")], 304),
        .conditional("If-None-Match: another", [("If-None-Match", "\"other\"")], 200),
        .conditional("If-None-Match: empty tag", [("If-None-Match", "\"\"")], 200),
        .conditional("If-None-Match: without quotes", [("If-None-Match", "v1")], 200),
        .conditional(
            "If-None-Match: second field",
            [("If-None-Match", "\"other\""), ("If-None-Match", "{etag}")], 304,
            nginx: .init(
                400, "refuses two fields; RFC 9110 §5.3 has lists joined, §13.1.5 one value")),
        .conditional("If-None-Match: empty", [("If-None-Match", "")], 200),
        .conditional(
            "If-None-Match: second, weak", [("If-None-Match", "\"other\", W/{etag}")], 304),
        .conditional(
            "HEAD If-None-Match: another", [("If-None-Match", "\"other\"")], 200, method: "HEAD"),
        .conditional("If-None-Match: second", [("If-None-Match", "\"other\", {etag}")], 304),
        .conditional(
            "If-None-Match: behind a comma in a tag", [("If-None-Match", "\"a,b\",{etag}")], 304),
        .conditional(
            "If-None-Match: garbage in the list", [("If-None-Match", "garbage, {etag}")], 200,
            nginx: .init(304, "skips what is no tag; a malformed list names nothing here")),
        .conditional(
            "HEAD If-None-Match: the tag", [("If-None-Match", "{etag}")], 304, method: "HEAD"),
        .conditional("If-None-Match: the tag, range", [("If-None-Match", "{etag}"), middle], 304),
        .conditional(
            "If-None-Match: another, range", [("If-None-Match", "\"other\""), middle], 206,
            range: 10...19),
        .conditional("If-Modified-Since: the date", [("If-Modified-Since", "{date}")], 304),
        .conditional(
            "If-Modified-Since: the date as asctime", [("If-Modified-Since", "{date-asctime}")],
            304),
        .conditional("If-Modified-Since: earlier", [("If-Modified-Since", before)], 200),
        .conditional(
            "If-Modified-Since: later", [("If-Modified-Since", after)], 304,
            nginx: .init(200, "compares exactly unless if_modified_since is before")),
        .conditional("If-Modified-Since: no date", [("If-Modified-Since", "yesterday")], 200),
        .conditional(
            "HEAD If-Modified-Since: the date", [("If-Modified-Since", "{date}")], 304,
            method: "HEAD"),
        .conditional(
            "If-Modified-Since: the date, range", [("If-Modified-Since", "{date}"), middle], 304),
    ]

    static let change: [NginxVector] = [
        .conditional("If-Match: the tag", [("If-Match", "{etag}")], 200),
        .conditional("If-Match: the tag, weak", [("If-Match", "W/{etag}")], 412),
        .conditional("If-Match: any", [("If-Match", "*")], 200),
        .conditional("If-Match: another", [("If-Match", "\"other\"")], 412),
        .conditional("If-Match: second", [("If-Match", "\"other\", {etag}")], 200),
        .conditional(
            "If-Match: second field", [("If-Match", "\"other\""), ("If-Match", "{etag}")], 200,
            nginx: .init(
                400, "refuses two fields; RFC 9110 §5.3 has lists joined, §13.1.5 one value")),
        .conditional("If-Match: empty", [("If-Match", "")], 412),
        .conditional("HEAD If-Match: the tag", [("If-Match", "{etag}")], 200, method: "HEAD"),
        .conditional(
            "If-Match: behind a comma in a tag", [("If-Match", "\"a,b\",{etag}")], 200),
        .conditional("If-Match: no tag", [("If-Match", "v1")], 412),
        .conditional("HEAD If-Match: another", [("If-Match", "\"other\"")], 412, method: "HEAD"),
        .conditional(
            "If-Match: the tag, range", [("If-Match", "{etag}"), middle], 206, range: 10...19),
        .conditional("If-Match: another, range", [("If-Match", "\"other\""), middle], 412),
        .conditional("If-Unmodified-Since: the date", [("If-Unmodified-Since", "{date}")], 200),
        .conditional("If-Unmodified-Since: later", [("If-Unmodified-Since", after)], 200),
        .conditional("If-Unmodified-Since: earlier", [("If-Unmodified-Since", before)], 412),
        .conditional(
            "If-Unmodified-Since: earlier, range", [("If-Unmodified-Since", before), middle], 412),
        .conditional(
            "If-Unmodified-Since: no date", [("If-Unmodified-Since", "yesterday")], 200,
            nginx: .init(412, "RFC 9110 §13.1.4 has the field ignored")),
    ]

    static let order: [NginxVector] = [
        .conditional(
            "If-Match holds, If-Unmodified-Since does not",
            [("If-Match", "{etag}"), ("If-Unmodified-Since", before)], 200,
            nginx: .init(
                412, "asks for both; RFC 9110 §13.2.2 skips the date where there is a tag")),
        .conditional(
            "If-Match does not hold, If-Unmodified-Since does",
            [("If-Match", "\"other\""), ("If-Unmodified-Since", after)], 412),
        .conditional(
            "If-Match does not hold, If-None-Match would be 304",
            [("If-Match", "\"other\""), ("If-None-Match", "{etag}")], 412),
        .conditional(
            "If-Match holds, If-None-Match is 304",
            [("If-Match", "{etag}"), ("If-None-Match", "{etag}")], 304),
        .conditional(
            "If-None-Match is 304, If-Modified-Since is not",
            [("If-None-Match", "{etag}"), ("If-Modified-Since", before)], 304,
            nginx: .init(
                200, "asks for both; RFC 9110 §13.2.2 skips the date where there is a tag")),
        .conditional(
            "If-None-Match is not 304, If-Modified-Since is",
            [("If-None-Match", "\"other\""), ("If-Modified-Since", "{date}")], 200),
        .conditional(
            "If-None-Match before an unsatisfiable range",
            [("If-None-Match", "{etag}"), ("Range", "bytes=100-")], 304),
        .conditional(
            "If-Match before an unsatisfiable range",
            [("If-Match", "\"other\""), ("Range", "bytes=100-")], 412),
        .conditional(
            "If-Match holds, If-Range does not",
            [("If-Match", "{etag}"), ("If-Range", "\"other\""), middle], 200),
        .conditional(
            "all hold",
            [
                ("If-Match", "{etag}"), ("If-None-Match", "\"other\""), ("If-Range", "{etag}"),
                middle,
            ], 206, range: 10...19),
    ]
}
