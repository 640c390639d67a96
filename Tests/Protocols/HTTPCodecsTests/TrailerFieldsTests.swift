import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

@Suite struct TrailerFieldsTests {
    /// What comes, what passes on, and the names of what does not.
    static let rows: [(String, String, [String])] = [
        ("", "", []),
        ("X-Sum: 1\r\n", "X-Sum: 1\r\n", []),
        ("x-sum:2 \r\n", "x-sum:2 \r\n", []),
        ("Content-Length: 5\r\n", "", ["content-length"]),
        (
            "A: 1\r\nHOST: b\r\nTransfer-Encoding: chunked\r\nB:2 \r\n", "A: 1\r\nB: 2\r\n",
            ["host", "transfer-encoding"]
        ),
        (
            "If-None-Match: a\r\nIf: b\r\nSet-Cookie: c\r\nauthorization: d\r\nTE: e\r\n",
            "If: b\r\n", ["if-none-match", "set-cookie", "authorization", "te"]
        ),
        ("grpc-status: 0\r\nServer-Timing: x\r\n", "grpc-status: 0\r\nServer-Timing: x\r\n", []),
    ]

    @Test(arguments: rows)
    func dropsWhatMustNotStandThere(came: String, passes: String, dropped: [String]) throws {
        var reader = BodyReader(.chunked)
        let bytes = [UInt8]("0\r\n\(came)\r\n".utf8)
        _ = try reader.consume(bytes.span) { _ in }
        let trailers = reader.trailers
        let passing = TrailerFields.passing(trailers)
        #expect(passing.raw.text == (passes.isEmpty ? "" : "\(passes)\r\n"))
        #expect(TrailerFields.forbidden(in: trailers) == dropped)
        let again = HTTP2Fields.trailers(trailers).received.trailers()
        #expect(again.slices.count == passing.slices.count)
        #expect(passing.pairs.map(\.name) == TrailerFields.passing(passing).pairs.map(\.name))
        // What goes on in the place of the section as it came.
        if !came.isEmpty { #expect(reader.closing.text == "\(passes)\r\n") }
    }
}
