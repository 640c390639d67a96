import Base
import HTTPModel
import HTTPServer
import RangeVectors
import Testing

/// The table of `NginxVector`, against representations in memory.
struct ConditionalTests {
    static let date = HTTPDate(seconds: NginxVector.modified)

    static func representation(size: Int) -> Representation {
        Representation(
            contentType: "text/plain", bytes: NginxVector.digits(0..<size),
            validators: Validators(entityTag: EntityTag("v1"), lastModified: date))
    }

    @Test func hasEnoughRows() {
        #expect(NginxVector.all.count >= 140)
        #expect(Set(NginxVector.all.map(\.name)).count == NginxVector.all.count)
    }

    @Test(arguments: NginxVector.all, [1, 7, 4096])
    func answers(_ row: NginxVector, room: Int) async throws {
        let headers = row.fields(entityTag: "\"v1\"").map { ($0.name, $0.value) }
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
            #expect(content == NginxVector.digits(parts[0]))
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
            expected += NginxVector.digits(part).text
        }
        #expect(content.text == expected + "\r\n--\(boundary)--\r\n")
    }
}
