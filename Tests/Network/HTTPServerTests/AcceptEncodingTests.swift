import Base
import HTTPCodecs
import HTTPModel
import HTTPServer
import Testing

struct AcceptEncodingTests {
    /// What a client says, and what a representation with and one without a gzip variant answer.
    struct Row: Sendable, CustomTestStringConvertible {
        let value: String?
        /// The Content-Encoding, `identity` for none, `nil` for 406.
        let coding: String?
        var withoutGzip: Int = 200
        var testDescription: String { value ?? "none" }
    }

    @Test(arguments: [
        Row(value: nil, coding: "identity"),
        Row(value: "", coding: "identity"),
        Row(value: "gzip", coding: "gzip"),
        Row(value: "GZIP", coding: "gzip"),
        Row(value: "x-gzip", coding: "gzip"),
        Row(value: "gzip, deflate, br, zstd", coding: "gzip"),
        Row(value: "br", coding: "identity"),
        Row(value: "*", coding: "gzip"),
        Row(value: "identity", coding: "identity"),
        Row(value: "gzip;q=0", coding: "identity"),
        Row(value: "gzip;q=0.000", coding: "identity"),
        Row(value: "gzip ; q=0.001", coding: "gzip"),
        Row(value: "gzip;q=0.5, identity;q=0.5", coding: "gzip"),
        Row(value: "gzip;q=0.5, identity", coding: "identity"),
        Row(value: "identity;q=0.2, gzip;q=0.1", coding: "identity"),
        Row(value: "*;q=0", coding: nil, withoutGzip: 406),
        Row(value: "identity;q=0", coding: nil, withoutGzip: 406),
        Row(value: "identity;q=0, gzip", coding: "gzip", withoutGzip: 406),
        Row(value: "identity;q=0, *", coding: "gzip", withoutGzip: 406),
        Row(value: "*;q=0, gzip", coding: "gzip", withoutGzip: 406),
        Row(value: "*;q=0, identity", coding: "identity"),
        Row(value: "gzip;q=0, *", coding: "identity"),
        Row(value: "gzip;q=2", coding: "identity"),
        Row(value: "gzip;q=1.001", coding: "identity"),
        Row(value: "gzip;q=", coding: "identity"),
        Row(value: "gzip;q=-1", coding: "identity"),
        Row(value: "gzip;q=0.1234", coding: "identity"),
        Row(value: "gzip;level=9", coding: "identity"),
        Row(value: ",,gzip,,", coding: "gzip"),
        Row(value: "gzip;q=1.000", coding: "gzip"),
    ])
    func chooses(_ row: Row) throws {
        let headers = row.value.map { [("Accept-Encoding", $0)] } ?? []
        let request = try RouterTests.request("GET", "/", fields(headers))
        let response = Self.representation(compresses: true).response(to: request)
        #expect(response.status == (row.coding == nil ? 406 : 200))
        if let coding = row.coding {
            #expect(response.first("Content-Encoding") ?? "identity" == coding)
            #expect(response.first("ETag") == (coding == "gzip" ? "\"v1-gzip\"" : "\"v1\""))
            #expect((response.first("Accept-Ranges") == nil) == (coding == "gzip"))
        }
        #expect(response.first("Vary") == "Accept-Encoding")
        let plain = Self.representation(compresses: false).response(to: request)
        #expect(plain.status == row.withoutGzip)
        #expect(plain.first("Content-Encoding") == nil)
    }

    @Test func compressesAsAStream() async throws {
        let request = try RouterTests.request("GET", "/", fields([("Accept-Encoding", "gzip")]))
        let response = Self.representation(compresses: true).response(to: request)
        #expect(response.body.length == nil)
        let buffer = ByteBuffer(capacity: 3)
        let source = response.body.source
        var content: [UInt8] = []
        while try await source.read(into: buffer) > 0 {
            content += buffer.copy
            buffer.removeAll()
        }
        #expect(content == GzipEncoder.encode([UInt8]("abcdefghij".utf8)))
        #expect(try await source.read(into: buffer) == 0)
    }

    /// Each variant has its own tag, and a range selects the plain one.
    @Test(arguments: [
        ([("If-None-Match", "\"v1-gzip\"")], 304, "\"v1-gzip\""),
        ([("If-None-Match", "\"v1\"")], 200, "\"v1-gzip\""),
        ([("If-Match", "\"v1\"")], 412, nil),
        ([("Range", "bytes=0-1")], 206, "\"v1\""),
        ([("Range", "bytes=0-1"), ("If-Range", "\"v1\"")], 206, "\"v1\""),
        ([("Range", "bytes=0-1"), ("If-Range", "\"v1-gzip\"")], 200, "\"v1\""),
        ([("Range", "bytes=0-1"), ("If-None-Match", "\"v1\"")], 304, "\"v1\""),
    ])
    func tagsVariants(_ headers: [(String, String)], _ status: Int, _ tag: String?) throws {
        let request = try RouterTests.request(
            "GET", "/", fields([("Accept-Encoding", "gzip")] + headers))
        let response = Self.representation(compresses: true).response(to: request)
        #expect(response.status == status)
        #expect(response.first("ETag") == tag)
    }

    private static func representation(compresses: Bool) -> Representation {
        var representation = Representation(
            contentType: "text/plain", bytes: [UInt8]("abcdefghij".utf8),
            validators: Validators(entityTag: EntityTag("v1"), lastModified: nil))
        representation.hasGzip = compresses
        return representation
    }

    private func fields(_ headers: [(String, String)]) -> Fields {
        var raw: [UInt8] = []
        var slices: [FieldSlice] = []
        for (name, value) in headers {
            let start = raw.count
            raw += [UInt8](name.utf8)
            let middle = raw.count
            raw += [UInt8](value.utf8)
            slices.append(
                FieldSlice(
                    known: KnownField(name: [UInt8](name.utf8).span), name: start..<middle,
                    value: middle..<raw.count))
        }
        return Fields(raw: raw, slices: slices)
    }
}
