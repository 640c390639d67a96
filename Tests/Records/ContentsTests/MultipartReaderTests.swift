import Base
import Testing

@testable import Contents

struct MultipartReaderTests {
    private static let content = """
        before\r
        --b\r
        Content-Disposition: form-data; name="a"\r
        \r
        one\r
        two\r
        --b\r
        content-disposition: form-data;\r
         name=f; filename="x.txt"\r
        Content-Type: text/plain\r
        \r
        \r
        --b\r
        nothing ends this\r
        --b--\r
        behind\r
        --b\r
        \r
        late
        """

    @Test func tellsParts() throws {
        let bytes = Array(Self.content.utf8)
        let parts = try #require(
            MultipartReader.parts(of: bytes, boundary: Array("b".utf8), limit: 9))
        #expect(parts.map { $0.content.text } == ["one\r\ntwo", "", "", "late"])
        #expect(parts.map { $0.name?.text } == ["a", "f", nil, nil])
        #expect(parts.map { $0.fileName?.text } == [nil, "x.txt", nil, nil])
        #expect(parts.map(\.isFile) == [false, true, false, false])
        #expect(parts.map { $0.type?.text } == [nil, "text/plain", nil, nil])
        #expect(parts.map { $0.contentStart != nil } == [true, true, false, true])
        #expect(MultipartReader.parts(of: bytes, boundary: Array("b".utf8), limit: 1)?.count == 1)
    }

    /// What replaces sections must know every byte, wherever the content is cut.
    @Test func coversEveryByte() {
        let bytes = Array(Self.content.utf8)
        for end in bytes.indices {
            let cut = Array(bytes[..<end])
            guard let reader = MultipartReader(cut, boundary: Array("b".utf8)) else { continue }
            #expect(reader.flatMap { cut[$0.delimiter] + cut[$0.range] } == cut)
        }
    }

    @Test(arguments: ["", "c", String(repeating: "b", count: 257)])
    func knowsNoOtherBoundary(_ boundary: String) {
        #expect(
            MultipartReader(Array(Self.content.utf8), boundary: Array(boundary.utf8)) == nil)
    }
}
