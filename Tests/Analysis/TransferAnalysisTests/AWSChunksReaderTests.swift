import Testing

@testable import TransferAnalysis

struct AWSChunksReaderTests {
    struct Row: CustomStringConvertible, Sendable {
        let description: String
        let content: String
        /// What is stored of it.
        let stored: String
        var trailers = ""
        var violation: AWSChunksReader.Violation?
        var isWhole = true
    }

    private static let signature = ";chunk-signature=" + String(repeating: "a", count: 64)

    static let rows: [Row] = [
        Row(
            description: "unsigned, with a trailer",
            content: "4\r\n0123\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", stored: "0123",
            trailers: "x-amz-checksum-crc32:AAAAAA==\r\n"),
        Row(
            description: "signed",
            content: "4\(signature)\r\n0\r\n3\r\n0A\(signature)\r\n456789abcd\r\n"
                + "0\(signature)\r\n\r\n", stored: "0\r\n3456789abcd"),
        Row(
            description: "trailers with LF alone, and a signature behind the empty line",
            content: "1\(signature)\r\nx\r\n0\(signature)\r\na:b\nc:d\n\r\nx-amz-s:1\r\n\r\n",
            stored: "x", trailers: "a:b\r\nc:d\r\n"),
        Row(description: "nothing", content: "0\r\n\r\n", stored: ""),
        Row(description: "without an end", content: "0\r\n", stored: ""),
        Row(description: "not even a size", content: "", stored: "", isWhole: false),
        Row(description: "a zero with many digits", content: "000000000000\r\n\r\n", stored: ""),
        Row(description: "cut in a chunk", content: "A\r\n012", stored: "012", isWhole: false),
        Row(description: "cut in a size", content: "1\r\nx\r\n4", stored: "x", isWhole: false),
        Row(
            description: "no framing at all", content: "<html>\r\n", stored: "",
            violation: .size, isWhole: false),
        Row(
            description: "no size", content: ";a=b\r\n", stored: "", violation: .size,
            isWhole: false),
        Row(
            description: "a negative size", content: "-1\r\nx", stored: "", violation: .size,
            isWhole: false),
        Row(
            description: "a chunk longer than its size", content: "2\r\n0123\r\n0\r\n\r\n",
            stored: "01", violation: .end, isWhole: false),
        Row(
            description: "the largest size", content: "7FFFFFFFFFFFFFFF\r\nab", stored: "ab",
            isWhole: false),
        Row(
            description: "a size beyond 63 bits", content: "8000000000000000\r\nab", stored: "",
            violation: .size, isWhole: false),
        Row(
            description: "a line without an end",
            content: "1;" + String(repeating: "x", count: 5000),
            stored: "", violation: .line, isWhole: false),
        Row(
            description: "trailers without an end",
            content: "0\r\n" + String(repeating: "a:b\r\n", count: 5000), stored: "",
            trailers: String(repeating: "a:b\r\n", count: 3276), violation: .trailers),
    ]

    @Test(arguments: rows)
    func reads(_ row: Row) {
        let bytes = [UInt8](row.content.utf8)
        // Whole, byte by byte, and cut at every offset.
        var cuts = [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
        if bytes.count < 500 { cuts += bytes.indices.map { [bytes[..<$0], bytes[$0...]] } }
        for pieces in cuts {
            var reader = AWSChunksReader()
            var stored: [UInt8] = []
            var violation: AWSChunksReader.Violation?
            for piece in pieces where violation == nil {
                do throws(AWSChunksReader.Violation) {
                    try reader.read(piece) { stored += $0 }
                } catch {
                    violation = error
                }
            }
            #expect(stored == Array(row.stored.utf8))
            #expect(reader.count == Int64(stored.count))
            #expect(violation == row.violation)
            #expect(reader.isWhole == row.isWhole)
            #expect(reader.trailers == Array(row.trailers.utf8))
        }
    }
}
