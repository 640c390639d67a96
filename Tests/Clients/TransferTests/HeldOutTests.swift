import Base
import HTTPClient
import HTTPCodecs
import HTTPModel
import Origins
import Sockets
import TLS
import Testing

@testable import Transfer

/// Downloads from origins that do what those of the battery do not: word for word what they answer,
/// one answer after the other, the last one from then on.
@Suite(.serialized) struct HeldOutTests {
    private static let size = 1_048_576
    private static let cut = 400_000
    private static let first = bytes(seed: 1)
    private static let second = bytes(seed: 2)
    private static let old =
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\nDate: Sun, 06 Nov 1994 10:00:00 GMT\n"

    private static func bytes(seed: UInt64) -> [UInt8] {
        (0..<UInt64(size / 8)).flatMap { number in
            let word = SplitMix.word(seed: seed, number)
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
        }
    }

    /// `first`, and from an offset on `second`.
    private static func spliced(_ offset: Int, _ end: Int = size) -> [UInt8] {
        Array(first[..<offset]) + second[offset..<end] + first[end...]
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let answers: [ScriptedAnswer]
        /// What the origin has in the end; `nil` where nobody can get it.
        var held: [UInt8]?
        var failure: String?

        var testDescription: String { name }
    }

    /// The whole, of which so much comes.
    private static func whole(
        _ fields: String, _ bytes: [UInt8] = first, upTo end: Int? = nil, length: Int? = size,
        type: String = "application/zip", _ ending: ScriptedAnswer.Ending? = nil
    ) -> ScriptedAnswer {
        let told = length.map { "Content-Length: \($0)\n" } ?? ""
        return ScriptedAnswer(
            "200\nContent-Type: \(type)\n\(told)\(fields)", Array(bytes[..<(end ?? bytes.count)]),
            ending ?? (end == nil ? .whole : .cut))
    }

    /// What is asked for, of these bytes.
    private static func part(
        _ fields: String, _ bytes: [UInt8] = first, total: Int = size,
        type: String = "application/zip"
    ) -> ScriptedAnswer {
        ScriptedAnswer("206\nContent-Type: \(type)\n\(fields)", bytes, .whole, total: total)
    }

    private static let tag = "ETag: \"t\"\n"
    private static let digest = contentDigest(first[...])

    private static func contentDigest(_ bytes: ArraySlice<UInt8>) -> String {
        "Content-Digest: sha-256=:\(Base64.encode(Digests.sha256(Array(bytes)))):\n"
    }

    /// So much of the whole, as if it were all, with its own digest.
    private static func copies(_ fields: String, length: Int?) -> [ScriptedAnswer] {
        Array(
            repeating: whole(
                fields + contentDigest(first[..<300_000]), upTo: 300_000, length: length, .whole),
            count: 4)
    }

    /// What is missing behind the cut, labelled as the whole and with its own digest.
    private static func rest(_ fields: String) -> ScriptedAnswer {
        let rest = Array(first[cut...])
        return whole(fields + contentDigest(rest[...]), rest, length: rest.count)
    }

    static let rows: [Row] = [
        Row(
            name: "the rest is labelled as the whole",
            answers: [
                whole(tag, upTo: cut), whole(tag, Array(first[cut...]), length: size - cut),
                whole(tag, Array(first[cut...]), length: size - cut), whole(tag),
            ], held: first),
        Row(
            name: "the rest is labelled as the whole, by a date",
            answers: [
                whole(old, upTo: cut), whole(old, Array(first[cut...]), length: size - cut),
                whole(old),
            ], held: first),
        Row(
            name: "another backend without a tag lies between",
            answers: [
                whole(tag, upTo: cut), whole("", spliced(500_000, 500_100), upTo: 800_000),
                part(tag), whole(tag),
            ], held: first),
        Row(
            name: "another backend without a tag lies between, by a date",
            answers: [
                whole(old, upTo: cut), whole("", spliced(500_000, 500_100), upTo: 800_000),
                part(old), whole(old),
            ], held: first),
        Row(
            name: "nothing, ended by the connection",
            answers: [whole(tag, [], length: nil, .closed), whole(tag)], held: first),
        Row(
            name: "an empty file, ended by the connection",
            answers: [whole("", [], length: nil, .closed)], held: []),
        Row(
            name: "a shorter one under the same tag, twice",
            answers: [
                whole(tag, upTo: cut), whole(tag, second, upTo: 300_000, length: 300_000, .whole),
                whole(tag, second, upTo: 300_000, length: 300_000, .whole), whole(tag),
            ], held: first),
        Row(
            name: "a copy that a cache has cut",
            answers: [
                whole(tag, upTo: cut), whole(tag, upTo: 300_000, length: 300_000, .whole),
                whole(tag, upTo: 300_000, length: 300_000, .whole),
                whole(tag, upTo: 300_000, length: 300_000, .whole),
                whole(tag, [], length: 0, .whole), whole(tag),
            ], held: first),
        Row(
            name: "a copy that a cache has cut, by a date",
            answers: [
                whole(old, upTo: cut), whole(old, upTo: 300_000, length: 300_000, .whole),
                whole(old, upTo: 300_000, length: 300_000, .whole),
                whole(old, upTo: 300_000, length: 300_000, .whole),
                whole(old, [], length: 0, .whole), whole(old),
            ], held: first),
        Row(
            name: "a copy that a cache has cut, in chunks",
            answers: [whole(tag, upTo: cut)]
                + Array(
                    repeating: whole(
                        tag + "Transfer-Encoding: chunked\n", upTo: 300_000, length: nil, .whole),
                    count: 6)
                + [whole(tag)], held: first),
        Row(
            name: "a copy that a cache has cut, in chunks, by a date",
            answers: [whole(old, upTo: cut)]
                + Array(
                    repeating: whole(
                        old + "Transfer-Encoding: chunked\n", upTo: 300_000, length: nil, .whole),
                    count: 6)
                + [whole(old)], held: first),
        Row(
            name: "a copy that a cache has cut, from then on",
            answers: [
                whole(tag, upTo: cut), whole(tag, upTo: 300_000, length: 300_000, .whole),
            ], failure: "origin-violation"),
        Row(
            name: "a changed copy on the way (203), and then the rest of the original",
            answers: [
                ScriptedAnswer(
                    "203\nContent-Length: \(size)\n\(tag)", Array(second[..<cut]), .cut),
                part(tag), whole(tag),
            ], held: first),
        Row(
            name: "all of it, and no end",
            answers: [
                ScriptedAnswer("200\nTransfer-Encoding: chunked\n\(tag)", first, .cut), part(tag),
            ], held: first),
        Row(
            name: "two moments at which it was answered",
            answers: [
                whole(old + "Date: Sun, 06 Nov 1994 08:49:37 GMT\n", upTo: cut),
                part(old, second), whole(old, second),
            ], held: second),
        Row(
            name: "another variant under one date",
            answers: [
                whole(old + "Content-Location: /f.en\n", upTo: cut),
                part(old + "Content-Location: /f.de\n", second),
                whole(old + "Content-Location: /f.de\n", second),
            ], held: second),
        Row(
            name: "another variant under one date, of as many bytes that are the same as had come",
            answers: [
                whole(old + "Content-Location: /f.en\n", upTo: cut),
                part(old + "Content-Location: /f.de\n", spliced(cut)),
                whole(old + "Content-Location: /f.de\n", spliced(cut)),
            ], held: spliced(cut)),
        Row(
            name: "another variant under one tag, told with the part alone",
            answers: [
                whole(tag, upTo: cut), part(tag + "Content-Location: /f.de\n", spliced(cut)),
                whole(tag),
            ], held: first),
        Row(
            name: "a part of another media type under one tag",
            answers: [
                whole(tag, upTo: cut), part(tag, spliced(cut), type: "text/html"), whole(tag),
            ], held: first),
        Row(
            name: "a part that begins later than was asked, and is what was asked for",
            answers: [
                whole(tag, upTo: cut),
                ScriptedAnswer(
                    "206\nContent-Range: bytes \(cut)-\(size - 1)/\(size)\n\(tag)",
                    Array(first[(cut - 256)..<(size - 256)]), .whole),
                whole(tag),
            ], held: first),
        Row(
            name: "the beginning is not what Content-Digest says of the whole",
            answers: [
                whole(tag + digest, [0] + first[1...], upTo: cut), part(tag),
                whole(tag + digest),
            ], held: first),
        Row(
            name: "the rest is labelled as the whole, with a digest of its own",
            answers: [
                whole(tag + digest, upTo: cut), rest(tag), rest(tag), whole(tag + digest),
            ], held: first),
        Row(
            name: "the rest is labelled as the whole, with a digest of its own and no tag",
            answers: [whole(digest, upTo: cut), rest(""), whole(digest)], held: first),
        Row(
            name: "a copy that a cache has cut, with a digest of its own",
            answers: [whole(tag + digest, upTo: cut)] + copies(tag, length: 300_000)
                + [whole(tag + digest)], held: first),
        Row(
            name: "a copy that a cache has cut, with a digest of its own, by a date",
            answers: [whole(old + digest, upTo: cut)] + copies(old, length: 300_000)
                + [whole(old + digest)], held: first),
        Row(
            name: "a copy that a cache has cut, with a digest of its own, in chunks",
            answers: [whole(tag + digest, upTo: cut)]
                + copies(tag + "Transfer-Encoding: chunked\n", length: nil)
                + [whole(tag + digest)], held: first),
        Row(
            name: "a copy that a cache has cut, with a digest of its own and no date",
            answers: [whole(tag + old + digest, upTo: cut)] + copies(tag, length: 300_000)
                + [whole(tag + old + digest)], held: first),
        Row(
            name: "the rest is labelled as the whole, with a digest of its own and no date",
            answers: [
                whole(tag + old + digest, upTo: cut), rest(tag), rest(tag),
                whole(tag + old + digest),
            ], held: first),
        Row(
            name: "another version, with a digest of its own and no tag",
            answers: [
                whole(digest, upTo: cut), whole(contentDigest(second[...]), second),
            ], held: second),
        Row(
            name: "a changed copy on the way (203), with digests of the original",
            answers: [
                ScriptedAnswer(
                    "203\nContent-Length: \(size)\n\(tag)\(digest)\(reprDigest)", second, .whole)
            ], held: second),
        Row(
            name: "a shorter one in chunks under the same tag, twice",
            answers: [
                whole(tag, upTo: cut),
                whole(tag + "Transfer-Encoding: chunked\n", upTo: 300_000, length: nil, .whole),
                whole(tag + "Transfer-Encoding: chunked\n", upTo: 300_000, length: nil, .whole),
                whole(tag),
            ], held: first),
        Row(
            name: "a length that was told, and then none",
            answers: [
                whole("", upTo: cut), whole("", upTo: cut, length: nil, .closed), whole(""),
            ], held: first),
        Row(
            name: "a length that was told, and never again",
            answers: [whole(tag, upTo: cut), whole(tag, upTo: cut, length: nil, .closed)],
            failure: "origin-truncated"),
        Row(
            name: "another total, by a date",
            answers: [
                whole(old, upTo: cut), part(old, second, total: size + 500_000), whole(old),
            ], held: first),
        Row(
            name: "a tag that is none, and changes",
            answers: [
                whole("ETag: abc\n" + old, upTo: cut), part("ETag: def\n" + old, second),
                whole("ETag: def\n" + old, second),
            ], held: second),
        Row(
            name: "two tags, the second of which changes",
            answers: [
                whole("ETag: \"a\"\nETag: \"b\"\n", upTo: cut),
                part("ETag: \"a\"\nETag: \"c\"\n", second),
                whole("ETag: \"a\"\nETag: \"c\"\n", second),
            ], held: second),
        Row(
            name: "two dates, the second of which changes",
            answers: [
                whole(old + "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT\n", upTo: cut),
                part(old + "Last-Modified: Sun, 06 Nov 1994 09:00:00 GMT\n", second),
                whole(old + "Last-Modified: Sun, 06 Nov 1994 09:00:00 GMT\n", second),
            ], held: second),
        Row(
            name: "the same tag and another date",
            answers: [
                whole(tag + old, upTo: cut),
                part(tag + "Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT\n", second),
                part(tag + "Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT\n", second),
                whole(tag + "Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT\n", second),
            ], held: second),
        Row(
            name: "a page with a tag of its own",
            answers: [
                whole(tag, upTo: cut), page, page, page, whole(tag),
            ], held: first),
        Row(
            name: "a page with a tag of its own, from then on",
            answers: [whole(tag, upTo: cut), page], failure: "content-type-changed"),
        Row(
            name: "a type that was not told before",
            answers: [whole("", upTo: cut, type: ""), whole("")], held: first),
        Row(
            name: "the same tag of another resource",
            answers: [
                whole(tag, upTo: cut), ScriptedAnswer("302\nLocation: /other\n", [], .whole),
                part(tag, spliced(cut)), ScriptedAnswer("302\nLocation: /other\n", [], .whole),
                part(tag, spliced(cut)), ScriptedAnswer("302\nLocation: /other\n", [], .whole),
                whole(tag, second),
            ], held: second),
        Row(
            name: "a digest of the content behind it",
            answers: [
                ScriptedAnswer(
                    "200\nTransfer-Encoding: chunked\nTrailer: Content-Digest\n",
                    spliced(500_000, 500_001), .whole, trailers: digest),
                whole(""),
            ], held: first),
        Row(
            name: "412 for If-Range",
            answers: [whole(tag, upTo: cut), ScriptedAnswer("412\n", [], .whole), whole(tag)],
            held: first),
        Row(
            name: "404 for a part",
            answers: [
                whole(tag, upTo: cut), ScriptedAnswer("404\n", [], .whole), part(tag),
            ], held: first),
        Row(
            name: "the whole, labelled as a part",
            answers: [
                ScriptedAnswer(
                    "206\nContent-Range: bytes 0-\(size - 1)/\(size)\n\(tag)", first, .whole)
            ], held: first),
        Row(
            name: "416 for a range that is there",
            answers: [
                ScriptedAnswer(
                    "200\nTransfer-Encoding: chunked\n\(tag)", Array(first[..<cut]), .cut),
                ScriptedAnswer("416\nContent-Range: bytes */\(cut)\n\(tag)", [], .whole),
                ScriptedAnswer("416\nContent-Range: bytes */\(cut)\n\(tag)", [], .whole),
                whole(tag),
            ], held: first),
        Row(
            name: "a total without end under one digest",
            answers: [
                whole(tag + reprDigest, upTo: cut), part(reprDigest, second, total: 1 << 40),
                whole(tag),
            ], held: first),
        Row(
            name: "a digest that was told, and a shorter whole under the same tag",
            answers: [
                whole(tag + reprDigest, upTo: cut),
                whole(tag + "Transfer-Encoding: chunked\n", upTo: 600_000, length: nil, .whole),
            ], failure: "digest-mismatch"),
    ]

    private static let page = ScriptedAnswer(
        "200\nContent-Type: text/html\nContent-Length: 19\nETag: \"p\"\n",
        Array("<p>Please log in.\n\n".utf8), .whole)

    private static let reprDigest =
        "Repr-Digest: sha-256=:\(Base64.encode(Digests.sha256(first))):\n"

    @Test(arguments: rows) func isNoVersionButOneThatWasThere(_ row: Row) async throws {
        let disk = MemoryDisk()
        let task = try await Self.fetch(row.answers, on: disk)
        if let held = row.held {
            #expect(task.state == .completed)
            let file = try disk.open("/files/a", creating: false)
            #expect(try file.read(at: 0, count: Self.size * 2) == held)
        } else {
            guard case .failed(let failure) = task.state else {
                Issue.record("it is \(task.state)")
                return
            }
            #expect(failure.code == row.failure)
            #expect(!disk.paths.contains("/files/a"))
        }
    }

    private static func fetch(
        _ answers: [ScriptedAnswer], on disk: MemoryDisk
    ) async throws -> TransferTask {
        let loop = try EventLoop(index: 0)
        startThread(named: "test loop") { loop.run() }
        defer { loop.stop() }
        return try await Task(executorPreference: loop) {
            let service = try TransferService(
                TransferConfiguration(folder: "/tasks"), on: loop,
                network: ScriptedNetwork(answers), disk: disk, clock: QuickClock())
            return try await service.run {
                let task = try service.enqueue(
                    TransferPlan(.download, "http://a.test/file", file: "/files/a"))
                try service.resume(task.identifier)
                return try #require(await service.wait(for: task.identifier))
            }
        }.value
    }
}

/// One answer of an origin.
struct ScriptedAnswer: Sendable {
    /// A status and fields, a line each.
    let head: String
    let content: [UInt8]
    let ending: Ending
    /// Of what `content` is the whole: then what is asked for is sent of it, with Content-Range.
    let total: Int?
    let trailers: String

    enum Ending: Sendable {
        case whole
        case cut
        /// By the end of the connection, and nothing else.
        case closed
    }

    init(
        _ head: String, _ content: [UInt8], _ ending: Ending, total: Int? = nil,
        trailers: String = ""
    ) {
        self.head = head
        self.content = content
        self.ending = ending
        self.total = total
        self.trailers = trailers
    }
}

/// An origin that answers by a list. On the service's loop only.
private final class ScriptedNetwork: TransferNetwork, @unchecked Sendable {
    private var answers: [ScriptedAnswer]

    init(_ answers: [ScriptedAnswer]) { self.answers = answers }

    func staysHere(_ location: OriginLocation) -> Bool { false }

    func send(_ request: NetworkRequest) async throws(Failure) -> NetworkAnswer {
        let answer = answers.count > 1 ? answers.removeFirst() : answers[0]
        let start = request.start
        var lines = answer.head.split(separator: "\n").map(String.init)
        if let total = answer.total, start == 0 {
            lines[0] = "200"
            lines.append("Content-Length: \(min(total, answer.content.count))")
        } else if let total = answer.total {
            lines.append("Content-Range: bytes \(start)-\(answer.content.count - 1)/\(total)")
        }
        let head = try ResponseHead.of(lines)
        guard request.reception.take(head) else {
            return NetworkAnswer(
                head: head, trailers: .none, isDeclined: true, endedByClose: false)
        }
        var rest = answer.content[(answer.total == nil ? 0 : start)...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(16_384))
            rest = rest.dropFirst(piece.count)
            request.reception.take(piece.span)
            guard await request.reception.waitForRoom() else {
                return NetworkAnswer(
                    head: head, trailers: .none, isDeclined: true, endedByClose: false)
            }
        }
        guard answer.ending != .cut else {
            throw Failure("origin-truncated", party: .origin, "it breaks off")
        }
        let trailers = answer.trailers.split(separator: "\n").map(String.init)
        return NetworkAnswer(
            head: head, trailers: try ResponseHead.of(["200"] + trailers).fields, isDeclined: false,
            endedByClose: answer.ending == .closed)
    }
}

extension NetworkRequest {
    /// Where the part begins that is asked for, in bytes.
    fileprivate var start: Int {
        let range = fields.first { $0.name == "Range" }?.value ?? ""
        return Int(range.dropFirst(6).prefix { $0 != "-" }) ?? 0
    }
}
