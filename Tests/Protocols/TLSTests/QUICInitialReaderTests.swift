import Base
import Testing

@testable import TLS

/// Frames by a name, with what must come of a packet that holds them.
struct QUICRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let violation: QUICViolation
    let datagram: [UInt8]

    init(_ name: String, _ violation: QUICViolation, _ datagram: [UInt8]) {
        testDescription = name
        self.violation = violation
        self.datagram = datagram
    }

    init(
        _ name: String, _ violation: QUICViolation, frames: [UInt8],
        _ change: (inout QUICPacketBuilder) -> Void = { _ in }
    ) {
        self.init(name, violation, QUICPacketBuilder(frames, change).packet)
    }
}

private typealias Outcome = Result<ClientHello?, QUICViolation>

extension QUICInitialReader {
    fileprivate mutating func outcome(_ datagram: [UInt8]) -> Outcome {
        do throws(QUICViolation) {
            return .success(try read(datagram.span))
        } catch {
            return .failure(error)
        }
    }
}

private let message = makeMessage()

private func makeMessage() -> [UInt8] {
    var builder = ClientHelloBuilder()
    builder.extensions = [
        (0, ClientHelloBuilder.serverName(Array("a.test".utf8))),
        (16, vector([2] + Array("h3".utf8))), (21, [UInt8](repeating: 0, count: 300)),
    ]
    return builder.message
}

private let padding = [UInt8](repeating: 0, count: 40)
private let whole = QUICPacketBuilder.crypto(0, message)

@Suite struct QUICInitialReaderTests {
    @Test(arguments: QUICSample.all)
    func realDatagramsAreRead(_ sample: QUICSample) throws {
        for datagrams in [sample.datagrams, sample.datagrams.reversed()] {
            var reader = QUICInitialReader()
            for datagram in datagrams.dropLast() {
                #expect(reader.outcome(datagram) == .success(nil))
            }
            let last = try #require(datagrams.last)
            let hello = try #require(try reader.read(last.span))
            #expect(hello.serverName == sample.serverName)
            #expect(hello.alpn == sample.alpn)
            #expect(hello.highestVersion == 0x0304)
            #expect(hello.format == .quic)
            #expect(hello.ja4Raw.hasPrefix("q13d"))
            #expect(reader.header?.version == sample.version)
            #expect(reader.datagramCount == sample.hex.count)
            #expect(reader.outcome([]) == .success(hello))
        }
    }

    @Test(arguments: QUICSample.all)
    func everyCutIsRefusedAndLosesNothing(_ sample: QUICSample) {
        let first = sample.datagrams[0]
        for count in 0..<first.count {
            var reader = QUICInitialReader()
            let outcome = reader.outcome(Array(first.prefix(count)))
            #expect(
                outcome == .failure(.notQUIC) || outcome == .failure(.truncatedPacket), "\(count)")
            #expect(reader.header == nil)
            var hello: ClientHello?
            for datagram in sample.datagrams {
                if case .success(let read) = reader.outcome(datagram) { hello = read }
            }
            #expect(hello?.serverName == sample.serverName)
        }
    }

    @Test func whatIsSentAgainStandsInForWhatWasLost() throws {
        let second = QUICSample.chromium.datagrams[1]
        let again = try #require(bytes(fromHex: QUICSample.chromiumAgain))
        var reader = QUICInitialReader()
        #expect(reader.outcome(second) == .success(nil))
        #expect(reader.outcome(second) == .success(nil))
        let hello = try reader.read(again.span)
        #expect(hello?.serverName == "origin.test")
    }

    /// RFC 9001 §A.1 and RFC 9369 §A.1.
    @Test func keysAreThoseOfTheSpecifications() throws {
        let id = try #require(bytes(fromHex: "8394c8f03e515708"))
        let rows: [(QUICVersion, [String])] = [
            (
                .v1,
                [
                    "1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c",
                    "9f50449e04a0e810283a1e9933adedd2",
                ]
            ),
            (
                .v2,
                [
                    "8b1a0bc121284290a29e0971b5cd045d", "91f73e2351d8fa91660e909f",
                    "45b95e15235d6f45a6b19cbcb0294ba9",
                ]
            ),
        ]
        for (version, expected) in rows {
            let keys = QUICInitialKeys(try #require(version.initialSecrets), destinationID: id)
            #expect([keys.key, keys.nonce, keys.headerKey].map(\.hex) == expected)
        }
    }

    @Test(arguments: [QUICVersion.v1, .v2], 1...4)
    func piecesComeInAnyOrder(version: QUICVersion, datagramCount: Int) {
        var generator = SeededGenerator(state: UInt64(version.rawValue) &+ UInt64(datagramCount))
        for round in 0..<60 {
            var pieces: [[UInt8]] = []
            var start = 0
            while start < message.count {
                let end = min(message.count, start + .random(in: 1...60, using: &generator))
                // Some overlap with the one before.
                let begin = max(0, start - Int.random(in: 0...3, using: &generator))
                pieces.append(QUICPacketBuilder.crypto(begin, message[begin..<end]))
                start = end
            }
            pieces.shuffle(using: &generator)
            let share = (pieces.count + datagramCount - 1) / datagramCount
            var reader = QUICInitialReader()
            var hello: ClientHello?
            for number in 0..<datagramCount {
                let held = pieces.dropFirst(number * share).prefix(share)
                let frames = held.reduce(into: padding) { frames, piece in
                    frames += piece + Array(repeating: UInt8(number & 1), count: round % 3)
                }
                let datagram = QUICPacketBuilder(frames) {
                    $0.version = version
                    $0.token = [UInt8](repeating: 7, count: round * 3)
                    $0.sourceID = [UInt8](repeating: 8, count: round % 21)
                    $0.number = [UInt8](repeating: UInt8(number), count: 1 + round % 4)
                }.packet
                let outcome = reader.outcome(datagram)
                if case .success(let read) = outcome {
                    hello = read
                } else {
                    #expect(outcome == .success(nil))
                }
            }
            #expect(hello?.serverName == "a.test")
            #expect(hello?.alpn == ["h3"])
            #expect(hello?.raw == message)
        }
    }

    @Test func packetsMayShareADatagram() {
        let halves = [message[..<90], message[90...]]
        let first = QUICPacketBuilder(QUICPacketBuilder.crypto(0, halves[0])).packet
        let second = QUICPacketBuilder(QUICPacketBuilder.crypto(90, halves[1])) {
            $0.number = [1]
        }.packet
        let early = QUICPacketBuilder(padding) { $0.type = 1 }.packet
        let stranger = QUICPacketBuilder(whole) { $0.destinationID = [9] }.packet
        let rows: [(datagram: [UInt8], isWhole: Bool)] = [
            (first + second, true), (first + early + second, true), (second + first, true),
            (first + padding, false), (first + [0x40, 1, 2, 3] + second, false),
            (first + stranger, false),
        ]
        for row in rows {
            var reader = QUICInitialReader()
            guard case .success(let hello) = reader.outcome(row.datagram) else {
                Issue.record("it is refused")
                continue
            }
            #expect((hello != nil) == row.isWhole)
        }
    }

    @Test func aBrokenPacketBehindAGoodOneLosesNothing() {
        let good = QUICPacketBuilder(QUICPacketBuilder.crypto(0, message[..<90])).packet
        var bad = QUICPacketBuilder(QUICPacketBuilder.crypto(90, message[90...])).packet
        bad[bad.count - 1] ^= 1
        var reader = QUICInitialReader()
        #expect(reader.outcome(good + bad) == .failure(.notAuthentic))
        bad[bad.count - 1] ^= 1
        #expect(reader.outcome(bad) != .success(nil))
        #expect(reader.hello?.serverName == "a.test")
    }

    @Test func othersAreTold() {
        var reader = QUICInitialReader()
        let first = QUICPacketBuilder(QUICPacketBuilder.crypto(0, message[..<90])).packet
        #expect(reader.outcome(first) == .success(nil))
        for change: (inout QUICPacketBuilder) -> Void in [
            { $0.destinationID = [9, 9, 9] }, { $0.version = .v2 },
        ] {
            #expect(
                reader.outcome(QUICPacketBuilder(whole, change).packet)
                    == .failure(.anotherConnection))
        }
        #expect(reader.outcome(first) == .success(nil))
        #expect(
            reader.outcome(QUICPacketBuilder(whole).packet)
                == .failure(.tooManyDatagrams(limit: QUICInitialReader.datagramLimit)))
    }

    @Test(arguments: violations)
    func violationsAreNamed(_ row: QUICRow) {
        var reader = QUICInitialReader()
        #expect(reader.outcome(row.datagram) == .failure(row.violation))
        #expect(!row.violation.code.isEmpty)
        #expect(!row.violation.detail.isEmpty)
    }

    private static let violations: [QUICRow] = headerRows + frameRows + helloRows

    private static let headerRows: [QUICRow] = [
        .init("nothing", .notQUIC, []),
        .init("a short header", .notQUIC, [0x40] + padding),
        .init("no fixed bit", .notQUIC, [0x80] + padding),
        .init("DTLS", .notQUIC, [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]),
        .init("an id cut off", .notQUIC, [0xC0, 0, 0, 0, 1, 200] + padding),
        .init("a draft", .version(.init(rawValue: 0xFF00_001D)), frames: whole) {
            $0.version = .init(rawValue: 0xFF00_001D)
        },
        .init("negotiation", .version(.negotiation), frames: whole) { $0.version = .negotiation },
        .init("a Handshake packet", .notInitial(type: 2), frames: whole) { $0.type = 2 },
        .init("version 1's type in version 2", .notInitial(type: 0), frames: whole) {
            $0.version = .v2
            $0.type = 0
        },
        .init("an id of 21 bytes", .connectionIDTooLong(21), frames: whole) {
            $0.destinationID = [UInt8](repeating: 1, count: 21)
        },
        .init("the other id of 255", .connectionIDTooLong(255), frames: whole) {
            $0.sourceID = [UInt8](repeating: 1, count: 255)
        },
        .init("a length beyond the end", .truncatedPacket, frames: whole) { $0.lengthError = 1 },
        .init(
            "a length near 2^62", .truncatedPacket,
            [0xC0, 0, 0, 0, 1, 1, 1, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + padding),
        .init(
            "a token near 2^62", .truncatedPacket,
            [0xC0, 0, 0, 0, 1, 1, 1, 0] + [UInt8](repeating: 0xFF, count: 8) + padding),
        .init("a length cut off", .truncatedPacket, [0xC0, 0, 0, 0, 1, 1, 1, 0, 0, 0x40]),
        .init(
            "no sample", .packetTooShort(29),
            [0xC0, 0, 0, 0, 1, 1, 1, 0, 0, 19] + padding.prefix(19)),
        .init("a length of nothing", .packetTooShort(10), [0xC0, 0, 0, 0, 1, 1, 1, 0, 0, 0]),
        .init("a length too short", .notAuthentic, frames: whole) { $0.lengthError = -1 },
        .init("reserved bits", .reservedBits, frames: whole) { $0.reservedBits = 2 },
        .init("no tag in its keys", .notAuthentic, [0xC0, 0, 0, 0, 1, 1, 1, 0, 0, 40] + padding),
    ]

    private static let frameRows: [QUICRow] = [
        .init("no frames", .noFrames, frames: []) { $0.number = [0, 0, 0, 0] },
        .init("a STREAM frame", .frame(8), frames: [8, 0, 0] + padding),
        .init("a closing of the application", .frame(0x1D), frames: [0x1D, 0, 0] + padding),
        .init("a type in two bytes", .frame(6), frames: padding + [0x40, 6, 0, 0]),
        .init(
            "a type near 2^62", .frame((1 << 62) - 1), frames: [UInt8](repeating: 0xFF, count: 9)),
        .init("a CRYPTO frame cut off", .truncatedFrame, frames: padding + [6, 0, 5, 1]),
        .init("a CRYPTO frame without length", .truncatedFrame, frames: padding + [6, 0]),
        .init("an acknowledgement cut off", .truncatedFrame, frames: padding + [2, 0, 0, 9, 0, 0]),
        .init(
            "2^62 ranges", .truncatedFrame,
            frames: [2, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + padding),
        .init("counts cut off", .truncatedFrame, frames: padding + [3, 0, 0, 0, 0, 0, 0]),
        .init("a reason cut off", .truncatedFrame, frames: padding + [0x1C, 0, 0, 9, 1]),
        .init(
            "an offset near 2^62", .cryptoTooLong(limit: QUICCryptoStream.byteLimit),
            frames: [6] + [UInt8](repeating: 0xFF, count: 8) + [0] + padding),
        .init(
            "one byte too far", .cryptoTooLong(limit: QUICCryptoStream.byteLimit),
            frames: QUICPacketBuilder.crypto(QUICCryptoStream.byteLimit, [0]) + padding),
        .init(
            "two that disagree", .cryptoChanged(offset: 5),
            frames: QUICPacketBuilder.crypto(4, [1, 2, 3]) + QUICPacketBuilder.crypto(5, [9])
                + padding),
    ]

    private static let helloRows: [QUICRow] = [
        .init(
            "a ServerHello", .hello(.notAClientHello(messageType: 2)),
            frames: QUICPacketBuilder.crypto(0, [2]) + padding),
        .init(
            "16 MB", .hello(.helloTooLong(0xFF_FFFF)),
            frames: QUICPacketBuilder.crypto(0, [1, 255, 255, 255]) + padding),
        .init(
            "a hello of nothing", .hello(.truncatedHello),
            frames: QUICPacketBuilder.crypto(0, [1, 0, 0, 0]) + padding),
    ]

    @Test func whatComesWithTheHelloIsSkipped() {
        let frames =
            [2, 5, 0, 2, 0, 0, 0, 1, 1] + [3, 5, 0, 0, 0, 1, 2, 3] + [1, 1, 0]
            + [0x1C, 0, 6, 3, 1, 2, 3] + QUICPacketBuilder.crypto(9, []) + whole
            + QUICPacketBuilder.crypto(message.count, [1, 2, 3])
        var reader = QUICInitialReader()
        #expect(reader.outcome(QUICPacketBuilder(frames).packet) != .success(nil))
        #expect(reader.hello?.raw == message)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func mutationsNeverCrash(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var codes: Set<String> = []
        for _ in 0..<2500 {
            var bytes = QUICPacketBuilder(whole + padding).packet
            bytes += QUICPacketBuilder(padding).packet
            mutate(&bytes, &generator)
            var reader = QUICInitialReader()
            if case .failure(let violation) = reader.outcome(bytes) { codes.insert(violation.code) }
        }
        #expect(codes.count >= 5, "the mutations reach too few of the checks: \(codes)")
    }

    /// The same behind the protection, where a peer's bytes are not told by their tag.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func mutatedFramesNeverCrash(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var codes: Set<String> = []
        for _ in 0..<2500 {
            var frames =
                QUICPacketBuilder.crypto(80, message[80...]) + [2, 5, 0, 2, 0, 0, 0, 1, 1]
                + [0x1C, 0, 6, 3, 1, 2, 3] + QUICPacketBuilder.crypto(0, message[..<100])
            mutate(&frames, &generator)
            var reader = QUICInitialReader()
            let outcome = reader.outcome(QUICPacketBuilder(frames + padding).packet)
            if case .failure(let violation) = outcome { codes.insert(violation.code) }
        }
        #expect(codes.count >= 6, "the mutations reach too few of the checks: \(codes)")
    }

    private func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        for _ in 0...Int.random(in: 0..<3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] = .random(in: 0...255, using: &generator)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.insert(.random(in: 0...255, using: &generator), at: place)
            case 3: bytes.removeSubrange(place...)
            default: bytes.remove(at: place)
            }
        }
    }
}
