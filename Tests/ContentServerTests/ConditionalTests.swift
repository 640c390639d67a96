import Base
import HTTPServer
import Testing

/// The table of `NginxVector`, against representations in memory.
struct ConditionalTests {
    static let date = HTTPDate(seconds: 784_111_777)

    static func representation(size: Int) -> Representation {
        Representation(
            contentType: "text/plain", bytes: digits(0..<size),
            validators: Validators(entityTag: EntityTag("v1"), lastModified: date))
    }

    static func digits(_ range: Range<Int>) -> [UInt8] {
        range.map { UInt8(0x30 + $0 % 10) }
    }

    static func filled(_ value: String) -> String {
        [
            ("{etag}", "\"v1\""), ("{date}", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("{date-rfc850}", "Sunday, 06-Nov-94 08:49:37 GMT"),
            ("{date-asctime}", "Sun Nov  6 08:49:37 1994"),
        ].reduce(value) { text, pair in
            text.split(separator: pair.0, omittingEmptySubsequences: false)
                .joined(separator: pair.1)
        }
    }

    @Test func hasEnoughRows() {
        #expect(NginxVector.all.count >= 100)
        #expect(Set(NginxVector.all.map(\.name)).count == NginxVector.all.count)
    }

    @Test(arguments: NginxVector.all, [1, 7, 4096])
    func answers(_ row: NginxVector, room: Int) async throws {
        let headers = row.headers.map { ($0.name, Self.filled($0.value)) }
        let response = Self.representation(size: row.size)
            .response(to: try request(row.method, "/file", headers))
        #expect(response.status == row.status)
        #expect(response.first("Content-Range") == row.contentRange)
        if [200, 206, 304].contains(row.status) { #expect(response.first("ETag") == "\"v1\"") }
        #expect((response.first("Accept-Ranges") == "bytes") == [200, 416].contains(row.status))
        if row.status == 304 {
            #expect(response.first("Content-Type") == nil)
            #expect(response.body.length == 0)
        }
        guard let parts = row.parts, row.method == "GET" else { return }
        let content = try await response.content(room: room)
        #expect(UInt64(content.count) == response.body.length)
        if parts.count == 1 {
            #expect(content == Self.digits(parts[0]))
            return
        }
        let type = try #require(response.first("Content-Type"))
        let prefix = "multipart/byteranges; boundary="
        try #require(type.hasPrefix(prefix))
        let boundary = type.dropFirst(prefix.count)
        var expected = ""
        for part in parts {
            expected += "\r\n--\(boundary)\r\nContent-Type: text/plain\r\n"
            expected += "Content-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/100\r\n\r\n"
            expected += Self.digits(part).text
        }
        #expect(content.text == expected + "\r\n--\(boundary)--\r\n")
    }
}
