import Base
import HTTPCodecs
import HTTPModel
import HTTPServer
import Testing

struct AcceptEncodingTests {
    /// What a client says, and what a representation that is compressed and one that is not answer.
    struct Row: Sendable, CustomTestStringConvertible {
        let value: String?
        /// The Content-Encoding, `identity` for none, `nil` for 406.
        let coding: String?
        var uncompressed: Int = 200
        var testDescription: String { value ?? "none" }
    }

    @Test(arguments: [
        Row(value: nil, coding: "identity"),
        Row(value: "", coding: "identity"),
        Row(value: "gzip", coding: "gzip"),
        Row(value: "GZIP", coding: "gzip"),
        Row(value: "x-gzip", coding: "gzip"),
        Row(value: "gzip, deflate, br, zstd", coding: "zstd"),
        Row(value: "gzip, deflate, br", coding: "br"),
        Row(value: "deflate, gzip", coding: "gzip"),
        Row(value: "deflate", coding: "deflate"),
        Row(value: "zstd", coding: "zstd"),
        Row(value: "compress, exi, dcb", coding: "identity"),
        Row(value: "gzip;q=0.9, br;q=0.8", coding: "gzip"),
        Row(value: "br;q=0.8, gzip;q=0.9, zstd;q=0.9", coding: "zstd"),
        Row(value: "*, zstd;q=0", coding: "br"),
        Row(value: "*;q=0.5, gzip", coding: "gzip"),
        Row(value: "br", coding: "br"),
        Row(value: "*", coding: "zstd"),
        Row(value: "identity", coding: "identity"),
        Row(value: "gzip;q=0", coding: "identity"),
        Row(value: "gzip;q=0.000", coding: "identity"),
        Row(value: "gzip ; q=0.001", coding: "gzip"),
        Row(value: "gzip;q=0.5, identity;q=0.5", coding: "gzip"),
        Row(value: "gzip;q=0.5, identity", coding: "identity"),
        Row(value: "identity;q=0.2, gzip;q=0.1", coding: "identity"),
        Row(value: "*;q=0", coding: nil, uncompressed: 406),
        Row(value: "identity;q=0", coding: nil, uncompressed: 406),
        Row(value: "identity;q=0, gzip", coding: "gzip", uncompressed: 406),
        Row(value: "identity;q=0, *", coding: "zstd", uncompressed: 406),
        Row(value: "*;q=0, gzip", coding: "gzip", uncompressed: 406),
        Row(value: "*;q=0, identity", coding: "identity"),
        Row(value: "gzip;q=0, *", coding: "zstd"),
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
            #expect(
                response.first("ETag") == (coding == "identity" ? "\"v1\"" : "\"v1-\(coding)\""))
            #expect((response.first("Accept-Ranges") == nil) == (coding != "identity"))
        }
        #expect(response.first("Vary") == "Accept-Encoding")
        let plain = Self.representation(compresses: false).response(to: request)
        #expect(plain.status == row.uncompressed)
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
        #expect(content == ContentEncoder.encode([UInt8]("abcdefghij".utf8)))
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

    /// A form that is coded beforehand has bytes that are always the same, so parts of it are sent.
    @Test(
        arguments: [
            ("br", [], 200, "br", "0123456789", nil),
            ("br", [("Range", "bytes=2-3")], 206, "br", "23", "bytes 2-3/10"),
            (
                "br", [("Range", "bytes=2-3"), ("If-Range", "\"packed\"")], 206, "br", "23",
                "bytes 2-3/10"
            ),
            ("br", [("Range", "bytes=2-3"), ("If-Range", "\"v1\"")], 200, "br", "0123456789", nil),
            ("br", [("Range", "bytes=20-")], 416, nil, nil, "bytes */10"),
            // What is coded and what is not could not be told apart in several parts.
            ("br", [("Range", "bytes=0-0,2-3")], 200, "br", "0123456789", nil),
            ("br;q=0.5, zstd", [("Range", "bytes=2-3")], 206, "br", "23", "bytes 2-3/10"),
            ("zstd", [("Range", "bytes=2-3")], 206, nil, "cd", "bytes 2-3/10"),
            ("identity;q=0, zstd", [("Range", "bytes=2-3")], 200, "zstd", nil, nil),
            ("identity", [("Range", "bytes=2-3")], 206, nil, "cd", "bytes 2-3/10"),
            ("br", [("If-None-Match", "\"packed\"")], 304, nil, nil, nil),
            ("br", [("If-Match", "\"v1\"")], 412, nil, nil, nil),
        ] as [(String, [(String, String)], Int, String?, String?, String?)])
    func sendsPartsOfCoded(
        _ accepted: String, _ headers: [(String, String)], _ status: Int, _ coding: String?,
        _ text: String?, _ range: String?
    ) async throws {
        var representation = Self.representation(compresses: true)
        let packed = [UInt8]("0123456789".utf8)
        representation.coded = [
            Representation.Coded(
                .brotli, length: 10,
                validators: Validators(entityTag: EntityTag("packed"), lastModified: nil)
            ) { range in BytesSource([UInt8](packed[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
        ]
        let request = try RouterTests.request(
            "GET", "/", fields([("Accept-Encoding", accepted)] + headers))
        let response = representation.response(to: request)
        #expect(response.status == status)
        #expect(response.first("Content-Encoding") == coding)
        #expect(response.first("Content-Range") == range)
        if [200, 206, 304].contains(status) {
            #expect(response.first("Vary") == "Accept-Encoding")
        }
        guard let text else { return }
        let buffer = ByteBuffer(capacity: 64)
        _ = try await response.body.source.read(into: buffer)
        #expect(buffer.copy.text == text)
        #expect(response.body.length == UInt64(text.utf8.count))
    }

    /// Pieces of one size go in, whatever a source's reads bring: the tag is strong.
    @Test(arguments: ContentCoding.allCases, [1, 7, 4096, 65_536])
    func codesTheSameAlways(_ coding: ContentCoding, step: Int) async throws {
        let text = [UInt8]((0..<20_000).map { "line \($0)\n" }.joined().utf8)
        var representation = Representation(
            contentType: "text/plain", length: UInt64(text.count),
            validators: Validators(entityTag: EntityTag("v1"), lastModified: nil)
        ) { _ in SteppingSource(text, step: step) }
        representation.isCompressed = true
        let request = try RouterTests.request(
            "GET", "/", fields([("Accept-Encoding", coding.rawValue)]))
        let source = representation.response(to: request).body.source
        let buffer = ByteBuffer(capacity: 5000)
        var content: [UInt8] = []
        while try await source.read(into: buffer) > 0 {
            content += buffer.copy
            buffer.removeAll()
        }
        let encoder = ContentEncoder(coding)
        var expected: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: 32_768) {
            let end = min(text.count, start + 32_768)
            expected += encoder.encode(text.span.extracting(start..<end))
        }
        #expect(content == expected + encoder.finish())
        #expect(
            ContentDecoder.decode(content, [coding], outputLimit: 1 << 20).content == text)
    }

    private static func representation(compresses: Bool) -> Representation {
        var representation = Representation(
            contentType: "text/plain", bytes: [UInt8]("abcdefghij".utf8),
            validators: Validators(entityTag: EntityTag("v1"), lastModified: nil))
        representation.isCompressed = compresses
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

/// Brings so many bytes with each read.
private final class SteppingSource: ResponseBodySource {
    private var rest: ArraySlice<UInt8>
    private let step: Int

    init(_ bytes: [UInt8], step: Int) {
        rest = bytes[...]
        self.step = step
    }

    func read(into buffer: ByteBuffer) async throws(ResponseInterruption) -> Int {
        let piece = rest.prefix(min(step, buffer.room))
        buffer.append([UInt8](piece))
        rest = rest.dropFirst(piece.count)
        return piece.count
    }
}
