import Base
import HTTPModel
import Testing

@testable import HTTPCodecs

/// The same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// Sound messages, broken at random: nothing may crash, read beyond its input, or read the same
/// bytes differently when they come in pieces.
@Suite struct MutationTests {
    private static let messages: [String] = [
        "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\nCookie: a=b\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a:80\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        "POST http://u@[::1]:80/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "5;a=b\r\nhello\r\n0\r\nA: 1\r\n\r\n",
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nProxy-Authorization: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: x, close\r\nX: 1\r\n\r\nabc",
        "HTTP/1.0 404\r\nTE: trailers\r\nUpgrade: a\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n"
            + "a\r\n0123456789\r\n00\r\nA: 1\r\nB: 2\r\n\r\nHTTP/1.1 100 \r\n\r\n",
    ]

    private static let pieces: [[UInt8]] = [
        "\r\n", "\n", "\r", " ", "\t", "\0", ":", ",", ";", "0", "5", "FFFFFFFFFFFFFFFF", "chunked",
        "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Host: b\r\n", "\r\n\r\n", "%",
        "@",
        "[", "]", "HTTP/1.1", "\u{FF}", "\u{7F}",
    ].map { Array($0.utf8) }

    private static func mutated(_ bytes: [UInt8], by generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let position = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0 where position < bytes.count:
                bytes[position] = UInt8.random(in: 0...255, using: &generator)
            case 1 where position < bytes.count:
                bytes.remove(at: position)
            case 2:
                bytes.removeSubrange(
                    position..<min(
                        bytes.count, position + Int.random(in: 0..<20, using: &generator)))
            case 3 where position < bytes.count:
                let end = Int.random(in: position..<bytes.count, using: &generator)
                bytes.insert(contentsOf: Array(bytes[position...end]), at: position)
            default:
                let piece = pieces[Int.random(in: 0..<pieces.count, using: &generator)]
                bytes.insert(contentsOf: piece, at: position)
            }
        }
        return bytes
    }

    @Test(arguments: 0..<8)
    func survives(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<500 {
            let index = Int.random(in: 0..<Self.messages.count, using: &generator)
            let bytes = Self.mutated(Array(Self.messages[index].utf8), by: &generator)
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            try checkRequest(bytes, cut: cut)
            try checkResponse(bytes, cut: cut)
            checkBody(bytes, cut: cut)
        }
    }

    private func checkRequest(_ bytes: [UInt8], cut: Int) throws {
        var reading = readRequest(Array(bytes.prefix(cut)))
        if reading == .incomplete { reading = readRequest(bytes, alreadyScanned: cut) }
        #expect(reading == readRequest(bytes))
        guard case .head(_, let consumed) = reading else { return }
        #expect(consumed <= bytes.count)
        let head = try #require(try RequestReader.read(bytes.span)).head
        do throws(HTTP1Violation) {
            _ = try RequestTarget(head)
        } catch {
            #expect(error == .invalidTarget || error == .unsupportedScheme)
        }
        _ = head.fields.first(.host).map { HostField.parse($0) }
        var output: [UInt8] = []
        HeadWriter.writeRequest(head, forwarding: Self.forwarding, into: &output)
        #expect(try RequestReader.read(output.span)?.consumed == output.count)
        do throws(HTTP1Violation) {
            let framing = try MessageFraming.ofRequest(head)
            _ = readBody(BodyReader(framing), Array(bytes[consumed...]))
        } catch {
            #expect(error.status == 400 || error == .unsupportedTransferCoding)
        }
    }

    private func checkResponse(_ bytes: [UInt8], cut: Int) throws {
        var reading = readResponse(Array(bytes.prefix(cut)))
        if reading == .incomplete { reading = readResponse(bytes, alreadyScanned: cut) }
        #expect(reading == readResponse(bytes))
        guard case .head(_, let consumed) = reading else { return }
        #expect(consumed <= bytes.count)
        let head = try #require(try ResponseReader.read(bytes.span)).head
        var output: [UInt8] = []
        HeadWriter.writeResponse(head, forwarding: Self.forwarding, into: &output)
        #expect(try ResponseReader.read(output.span)?.consumed == output.count)
        do throws(HTTP1Violation) {
            let framing = try MessageFraming.ofResponse(
                head, toMethod: .get, offer: .none, isRequestWhole: true)
            _ = readBody(BodyReader(framing), Array(bytes[consumed...]))
        } catch {
            #expect(error.status == 400 || error == .unsupportedTransferCoding)
        }
    }

    private func checkBody(_ bytes: [UInt8], cut: Int) {
        // What follows the head, or all of it.
        let start = bytes.firstIndex(of: 0x35) ?? 0
        let body = Array(bytes[start...])
        let whole = readBody(BodyReader(.chunked), body)
        #expect(
            readBody(BodyReader(.chunked), body, cuts: Array(body.indices)).content == whole.content
        )
        #expect(readBody(BodyReader(.chunked), body, cuts: [min(cut, body.count)]) == whole)
    }

    private static let forwarding = Forwarding(
        framing: .length(5), keepsUpgrade: true, closes: true, host: Array("h".utf8))
}
