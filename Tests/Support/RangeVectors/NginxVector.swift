/// What a request for a static representation must be answered with.
///
/// Every row says whether nginx, which is the only widely used server that is right about most of
/// this, answers the same with its default settings; `NginxComparisonTests` asks it, so a reason
/// that is no longer true fails there. In fields `{etag}` stands for the server's own strong tag,
/// `{date}` for the file's date in the format named.
package struct NginxVector: Sendable, CustomStringConvertible {
    package let name: String
    package var method = "GET"
    var headers: [(name: String, value: String)] = []
    /// Of the representation, in bytes; byte `i` is the digit `i % 10`.
    package var size = 100
    package let status: Int
    /// The Content-Range of the answer, `nil` if there must be none.
    package var contentRange: String?
    /// What the answer's parts hold; several are a multipart. `nil` for a status without content
    /// that is worth comparing.
    package var parts: [Range<Int>]?
    /// What nginx answers instead; `nil` if it agrees.
    package var nginxDiffers: Difference?

    package var nginxAgrees: Bool { nginxDiffers == nil }
    package var description: String { name }

    /// An answer that is not what the row asks for.
    package struct Difference: Sendable {
        package let status: Int
        /// What nginx does, and where the specification has it otherwise.
        package let reason: String

        init(_ status: Int, _ reason: String) {
            self.status = status
            self.reason = reason
        }
    }

    /// When the file was last modified, in seconds since 1970.
    package static let modified: Int64 = 784_111_777

    /// The file that is asked for.
    package var content: [UInt8] { Self.digits(0..<size) }

    /// What stands in these places of the file.
    package static func digits(_ range: Range<Int>) -> [UInt8] {
        range.map { UInt8(0x30 + $0 % 10) }
    }

    /// The request's fields for a server whose tag of the file is this.
    package func fields(entityTag: String) -> [(name: String, value: String)] {
        headers.map { ($0.name, Self.filled($0.value, entityTag: entityTag)) }
    }

    private static func filled(_ value: String, entityTag: String) -> String {
        [
            ("{etag}", entityTag), ("{date}", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("{date-rfc850}", "Sunday, 06-Nov-94 08:49:37 GMT"),
            ("{date-asctime}", "Sun Nov  6 08:49:37 1994"),
        ].reduce(value) { text, pair in
            text.split(separator: pair.0, omittingEmptySubsequences: false)
                .joined(separator: pair.1)
        }
    }

    /// A request with one Range field.
    static func range(
        _ name: String, _ value: String, size: Int = 100, _ status: Int,
        _ contentRange: String? = nil, _ parts: [Range<Int>]? = nil, nginx: Difference? = nil
    ) -> NginxVector {
        NginxVector(
            name: name, headers: [("Range", value)], size: size, status: status,
            contentRange: contentRange, parts: status == 200 ? [0..<size] : parts,
            nginxDiffers: nginx)
    }

    /// A request with any fields, for 100 bytes.
    static func conditional(
        _ name: String, _ headers: [(String, String)], _ status: Int,
        range: ClosedRange<Int>? = nil, method: String = "GET", nginx: Difference? = nil
    ) -> NginxVector {
        NginxVector(
            name: name, method: method, headers: headers.map { ($0.0, $0.1) }, status: status,
            contentRange: range.map { "bytes \($0.lowerBound)-\($0.upperBound)/100" }
                ?? (status == 416 ? "bytes */100" : nil),
            parts: range.map { [Range($0)] } ?? (status == 200 ? [0..<100] : nil),
            nginxDiffers: nginx)
    }

    package static let all =
        singleRanges + severalRanges + emptyRanges + ifRange + cache + change + order
}

private let strictSyntax = NginxVector.Difference(
    416, "refuses broken syntax; RFC 9110 §14.2 has the field ignored")
private let overflow = NginxVector.Difference(
    416, "refuses positions beyond 2^63; RFC 9110 §14.1.2 has the end clamped")
private let emptyElement = NginxVector.Difference(
    416, "refuses empty list elements, which RFC 9110 §5.6.1 has skipped")
private let fromZero = NginxVector.Difference(
    200, "ignores a range that starts at 0 of an empty file, as RFC 9110 §14.2 permits")

extension NginxVector {
    static let singleRanges: [NginxVector] = [
        NginxVector(name: "no range", status: 200, parts: [0..<100]),
        NginxVector(name: "HEAD", method: "HEAD", status: 200),
        .range("first byte", "bytes=0-0", 206, "bytes 0-0/100", [0..<1]),
        .range("middle", "bytes=10-19", 206, "bytes 10-19/100", [10..<20]),
        .range("last byte", "bytes=99-99", 206, "bytes 99-99/100", [99..<100]),
        .range("everything", "bytes=0-99", 206, "bytes 0-99/100", [0..<100]),
        .range("everything, open", "bytes=0-", 206, "bytes 0-99/100", [0..<100]),
        .range("rest", "bytes=40-", 206, "bytes 40-99/100", [40..<100]),
        .range("rest of one byte", "bytes=99-", 206, "bytes 99-99/100", [99..<100]),
        .range("end clamped", "bytes=50-1000", 206, "bytes 50-99/100", [50..<100]),
        .range("end clamped by one", "bytes=50-100", 206, "bytes 50-99/100", [50..<100]),
        .range("suffix of one", "bytes=-1", 206, "bytes 99-99/100", [99..<100]),
        .range("suffix of all", "bytes=-100", 206, "bytes 0-99/100", [0..<100]),
        .range("suffix of more", "bytes=-101", 206, "bytes 0-99/100", [0..<100]),
        .range("suffix of none", "bytes=-0", 416, "bytes */100"),
        .range("behind the end", "bytes=100-", 416, "bytes */100"),
        .range("far behind the end", "bytes=100-200", 416, "bytes */100"),
        .range("leading zeros", "bytes=000-0009", 206, "bytes 0-9/100", [0..<10]),
        .range(
            "end of 2^63-1", "bytes=0-9223372036854775807", 206, "bytes 0-99/100", [0..<100]),
        .range(
            "end of 2^64-1", "bytes=0-18446744073709551615", 206, "bytes 0-99/100", [0..<100],
            nginx: overflow),
        .range(
            "end of 30 digits", "bytes=1-999999999999999999999999999999", 206,
            "bytes 1-99/100", [1..<100], nginx: overflow),
        .range("start of 2^64", "bytes=18446744073709551616-", 416, "bytes */100"),
        .range(
            "suffix of 2^64", "bytes=-18446744073709551616", 206, "bytes 0-99/100", [0..<100],
            nginx: overflow),
        .range("unit in capitals", "BYTES=0-1", 206, "bytes 0-1/100", [0..<2]),
        .range("unit with a space", "bytes =0-1", 200),
        .range("unknown unit", "items=0-1", 200),
        .range("no unit", "0-1", 200),
        .range("no ranges", "bytes=", 200),
        .range("letters", "bytes=abc", 200, nginx: strictSyntax),
        .range("only a dash", "bytes=-", 200, nginx: strictSyntax),
        .range("two dashes", "bytes=1-2-3", 200, nginx: strictSyntax),
        .range("negative end", "bytes=0--1", 200, nginx: strictSyntax),
        .range("signed start", "bytes=+0-1", 200, nginx: strictSyntax),
        .range("hexadecimal", "bytes=0x0-0x1", 200, nginx: strictSyntax),
        .range("end before start", "bytes=5-4", 200, nginx: strictSyntax),
        .range("tab in front", "bytes=\t0-1", 206, "bytes 0-1/100", [0..<2], nginx: strictSyntax),
        .range("space at the end", "bytes=0-1 ", 206, "bytes 0-1/100", [0..<2]),
        .range("semicolon", "bytes=0-1;2-3", 200, nginx: strictSyntax),
        .range("fraction", "bytes=0.5-1", 200, nginx: strictSyntax),
        .range("another unit behind it", "bytes=0-1,items=2-3", 200, nginx: strictSyntax),
        .range("unit twice", "bytes=bytes=0-1", 200, nginx: strictSyntax),
        .range("suffix with a sign", "bytes=--1", 200, nginx: strictSyntax),
        .range("empty value", "", 200),
        .range("start of 2^63", "bytes=9223372036854775808-", 416, "bytes */100"),
        .range(
            "both beyond 2^64", "bytes=18446744073709551616-18446744073709551617", 416,
            "bytes */100"),
        .range(
            "both beyond 2^64, backwards", "bytes=18446744073709551617-18446744073709551616", 416,
            "bytes */100"),
        .range("space in front", "bytes= 0-1", 206, "bytes 0-1/100", [0..<2]),
        .range(
            "spaces within", "bytes=0 - 1", 200,
            nginx: .init(206, "skips spaces that RFC 9110 §14.1.1 does not allow")),
        .range(
            "trailing comma", "bytes=0-1,", 206, "bytes 0-1/100", [0..<2],
            nginx: emptyElement),
        .range(
            "leading comma", "bytes=,0-1", 206, "bytes 0-1/100", [0..<2],
            nginx: emptyElement),
        NginxVector(
            name: "two Range fields", headers: [("Range", "bytes=0-1"), ("Range", "bytes=2-3")],
            status: 200, parts: [0..<100], nginxDiffers: .init(206, "takes the first of two fields")
        ),
        NginxVector(
            name: "HEAD with a range", method: "HEAD", headers: [("Range", "bytes=0-1")],
            status: 200,
            nginxDiffers: .init(206, "RFC 9110 §14.2 defines ranges for GET only")),
    ]

    static let severalRanges: [NginxVector] = [
        .range("first and last", "bytes=0-0,-1", 206, nil, [0..<1, 99..<100]),
        .range("adjoining", "bytes=0-9,10-19", 206, nil, [0..<10, 10..<20]),
        .range("the same twice", "bytes=5-5,5-5", 206, nil, [5..<6, 5..<6]),
        .range("one within another", "bytes=10-39,20-29", 206, nil, [10..<40, 20..<30]),
        .range("suffix and rest", "bytes=-10,95-", 206, nil, [90..<100, 95..<100]),
        .range("clamped and first", "bytes=90-200,0-0", 206, nil, [90..<100, 0..<1]),
        .range("suffix of none beside one", "bytes=-0,0-0", 206, "bytes 0-0/100", [0..<1]),
        .range(
            "only commas", "bytes=,,", 200, nginx: strictSyntax),
        .range(
            "one overflows", "bytes=0-0,18446744073709551616-", 206, "bytes 0-0/100", [0..<1],
            nginx: overflow),
        .range("three", "bytes=0-9,20-29,40-49", 206, nil, [0..<10, 20..<30, 40..<50]),
        .range("spaces at the comma", "bytes=0-0 , 2-2", 206, nil, [0..<1, 2..<3]),
        .range("backwards", "bytes=20-29,0-9", 206, nil, [20..<30, 0..<10]),
        .range("overlapping a little", "bytes=0-9,5-14", 206, nil, [0..<10, 5..<15]),
        .range("together everything", "bytes=0-49,50-99", 206, nil, [0..<50, 50..<100]),
        .range("more than everything", "bytes=0-59,40-99", 200),
        .range("everything twice", "bytes=0-,0-", 200),
        .range("one has bytes", "bytes=0-9,200-300", 206, "bytes 0-9/100", [0..<10]),
        .range("whole and nothing", "bytes=0-99,100-", 206, "bytes 0-99/100", [0..<100]),
        .range("none has bytes", "bytes=200-300,400-", 416, "bytes */100"),
        .range(
            "one is invalid", "bytes=0-9,5-4", 200,
            nginx: .init(
                206, "leaves the invalid one out; RFC 9110 §14.1.1 makes the whole set invalid")),
        .range(
            "64 ranges", "bytes=" + (0..<64).map { "\($0)-\($0)" }.joined(separator: ","), 206,
            nil, (0..<64).map { $0..<$0 + 1 }),
        .range(
            "65 ranges", "bytes=" + (0..<65).map { "\($0)-\($0)" }.joined(separator: ","), 200,
            nginx: .init(206, "has no limit unless max_ranges sets one")),
    ]

    static let emptyRanges: [NginxVector] = [
        .range(
            "open, of nothing", "bytes=0-", size: 0, 416, "bytes */0",
            nginx: fromZero),
        .range(
            "first byte of nothing", "bytes=0-0", size: 0, 416, "bytes */0",
            nginx: fromZero),
        .range("second byte of nothing", "bytes=1-", size: 0, 416, "bytes */0"),
        .range("suffix of nothing", "bytes=-5", size: 0, 200),
        .range(
            "suffix of none of nothing", "bytes=-0", size: 0, 416, "bytes */0",
            nginx: fromZero),
    ]
}
