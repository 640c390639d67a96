import Base
import HTTPModel
import HTTPServer
import TestConditions
import Testing

@testable import ContentServer

/// What faults in a URL make of a response; what they do on the wire is `DeliveryTests`'.
struct FaultTests {
    private static let asset = GeneratedContent(seed: 1)

    private static func bytes(_ range: Range<UInt64>, seed: UInt64 = 1) -> [UInt8] {
        let buffer = ByteBuffer(capacity: Int(range.upperBound - range.lowerBound))
        GeneratedContent(seed: seed).append(
            to: buffer, offset: range.lowerBound, count: buffer.capacity)
        return buffer.copy
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let faults: String
        var range: String?
        let status: Int
        var fields: [String] = []
        var content: [UInt8]?
        var testDescription: String { faults }

        init(
            _ faults: String, range: String? = nil, _ status: Int, _ fields: [String] = [],
            _ content: [UInt8]? = nil
        ) {
            self.faults = faults
            self.range = range
            self.status = status
            self.fields = fields
            self.content = content
        }
    }

    private static let part = "bytes=100-199"

    @Test(arguments: [
        Row("delay:1ms", 200, ["ETag: \"generated-1-1-1000\""], bytes(0..<1000)),
        Row(
            "range-shift:-16", range: part, 206, ["Content-Range: bytes 84-183/1000"],
            bytes(84..<184)),
        Row(
            "range-lie:+16", range: part, 206, ["Content-Range: bytes 100-199/1000"],
            bytes(116..<216)),
        Row(
            "range-lie:-16", range: "bytes=100-", 206, ["Content-Range: bytes 100-999/1000"],
            bytes(84..<1000)),
        Row(
            "range-short:10", range: part, 206, ["Content-Range: bytes 100-189/1000"],
            bytes(100..<190)),
        Row(
            "range-long:4", range: part, 206, ["Content-Range: bytes 100-199/1000"],
            bytes(100..<200) + [0, 0, 0, 0]),
        Row("range-unlabelled", range: part, 206, ["Content-Range: -"], bytes(100..<200)),
        Row(
            "range-star", range: part, 206, ["Content-Range: bytes 100-199/*"],
            bytes(100..<200)),
        Row(
            "range-total:+5", range: part, 206, ["Content-Range: bytes 100-199/1005"],
            bytes(100..<200)),
        Row("range-ignored", range: part, 200, ["Content-Range: -"], bytes(0..<1000)),
        Row("range-ignored", 200, [], bytes(0..<1000)),
        Row("range-gzip", range: part, 206, ["Content-Encoding: gzip"]),
        Row(
            "range-page:206", range: part, 206, ["Content-Range: -"],
            [UInt8]("<title>Log in</title>\n".utf8)),
        Row("416:7", range: part, 416, ["Content-Range: bytes */7"]),
        Row("416:7", 200, [], bytes(0..<1000)),
        Row(
            "flip:3:0", 200, [],
            bytes(0..<3) + [bytes(3..<4)[0] ^ 1] + bytes(4..<1000)),
        Row("status:429:7", 429, ["Retry-After: 7"]),
        Row("status:407", 407, ["Proxy-Authenticate: Basic realm=\"sallyport\""]),
        Row("status:503:0:date", 503, ["Retry-After: Thu, 28 May 2026 20:26:40 GMT"]),
        Row("redirect:2|flip", 302, ["Location: /faults/redirect:1|flip/assets/1/1000"]),
        Row("redirect:1", 302, ["Location: /assets/1/1000"]),
        Row("redirect:0", 200, [], bytes(0..<1000)),
        Row("loop", 302, ["Location: /faults/loop/assets/1/1000"]),
        Row("duplicate:ETag:x", 200, ["ETag: \"generated-1-1-1000\", x"]),
        Row("version:1", 200, ["ETag: \"generated-1-1-1000\""], bytes(0..<1000)),
        Row("version:2", 200, [], bytes(0..<1000, seed: SplitMix.word(seed: 1, 2))),
        Row("version:2:bigger", range: "bytes=-1", 206, ["Content-Range: bytes 1124-1124/1125"]),
        Row("version:2:smaller", range: "bytes=-1", 206, ["Content-Range: bytes 874-874/875"]),
        Row(
            "version:2:date", 200,
            ["ETag: -", "Last-Modified: Thu, 01 Jan 2026 01:00:00 GMT"]),
        Row("version:1:weak", 200, ["ETag: W/\"generated-1-1-1000\"", "Last-Modified: -"]),
        Row(
            "splice:10:2", range: "bytes=5-19", 206, ["ETag: \"generated-1-1-1000\""],
            bytes(5..<10) + bytes(10..<20, seed: SplitMix.word(seed: 1, 2))),
        Row(
            "nonsense", 400, [],
            [UInt8](
                "there is no fault 'nonsense'\nDocumentation/content-server.md lists them, and a server's /faults\n"
                    .utf8)),
    ])
    func answers(_ row: Row) async throws {
        let server = ContentServer(ContentServerConfiguration())
        let request = try request(
            "GET", "/faults/\(row.faults)/assets/1/1000", row.range.map { [("Range", $0)] } ?? [])
        let response = await server.answer(request, RequestBody([]))
        #expect(response.status == row.status)
        for field in row.fields {
            let name = String(field.prefix { $0 != ":" })
            let values = response.fields.filter { $0.name == name }.map(\.value)
            #expect("\(name): \(values.isEmpty ? "-" : values.joined(separator: ", "))" == field)
        }
        if let content = row.content { #expect(try await response.content() == content) }
    }

    /// No path of a client's makes a redirection to another host.
    @Test func redirectsHere() async throws {
        let server = ContentServer(ContentServerConfiguration())
        let response = await server.answer(
            try request("GET", "/faults/redirect:1//evil.example/x"), RequestBody([]))
        #expect(response.first("Location") == "/.//evil.example/x")
    }

    /// However small the room is that it is read into, as a window of HTTP/2 may leave it.
    @Test(arguments: [1, 7, 4096, 100_000])
    func turnsOneBitOnly(room: Int) async throws {
        let server = ContentServer(ContentServerConfiguration())
        let response = await server.answer(
            try request("GET", "/faults/flip:10:0/assets/1/100000"), RequestBody([]))
        let content = try await response.content(room: room)
        #expect(content.count == 100_000)
        let other = zip(content, Self.bytes(0..<100_000)).enumerated().filter {
            $0.element.0 != $0.element.1
        }
        #expect(other.map(\.offset) == [10])
    }

    /// A page of a stranger's making gets nothing of this server's.
    @Test(arguments: [
        "/faults/duplicate:Content-Type:text%2Fhtml/httpbin/anything?x=<script>",
        "/httpbin/response-headers?Content-Type=text/html&x=<script>", "/httpbin/base64/PGI%2B",
    ])
    func keepsPagesApart(_ path: String) async throws {
        let server = ContentServer(ContentServerConfiguration())
        let response = await server.answer(try request("GET", path), RequestBody([]))
        #expect(response.first("Content-Security-Policy") == "sandbox")
    }

    @Test func leadsToNoOtherHost() async throws {
        let server = ContentServer(ContentServerConfiguration())
        let response = await server.answer(
            try request("GET", #"/faults/redirect:1/\evil.example/x"#), RequestBody([]))
        #expect(response.first("Location") == #"/./\evil.example/x"#)
    }

    /// Patterns that fit nearly everywhere take no longer than others.
    @Test(.processorTime(below: .seconds(60))) func boundsWhatPatternsTake() throws {
        let rule = "[rule]\npath = *" + String(repeating: "a", count: 1000) + "b\nfault = flip\n"
        let scenario = try Scenario.read(
            [UInt8](String(repeating: rule, count: 500).utf8), path: "s")
        let schedule = FaultSchedule(scenario, seed: 1)
        let request = try request("GET", "/" + String(repeating: "a", count: 8000))
        // Each would take eight million steps for each rule.
        for _ in 0..<10 { #expect(schedule.decide(request, client: "a").rule == nil) }
    }

    /// Every verb can be asked for by hand, and tells how it is written.
    @Test func listsAll() async throws {
        let server = ContentServer(ContentServerConfiguration())
        let response = await server.answer(try request("GET", "/faults"), RequestBody([]))
        let text = try await response.content().text
        for verb in FaultVerb.all { #expect(text.contains("\n\(verb.usage) ")) }
    }

    /// The same request draws the same, another seed something else.
    @Test func drawsFromTheSeed() async throws {
        func content(seed: UInt64) async throws -> [UInt8] {
            var configuration = ContentServerConfiguration()
            configuration.seed = seed
            let server = ContentServer(configuration)
            let request = try request("GET", "/faults/flip/assets/1/1000")
            return try await server.answer(request, RequestBody([])).content()
        }
        let first = try await content(seed: 1)
        #expect(try await content(seed: 1) == first)
        #expect(try await content(seed: 2) != first)
        #expect(zip(first, Self.bytes(0..<1000)).count { $0 != $1 } == 1)
    }
}
