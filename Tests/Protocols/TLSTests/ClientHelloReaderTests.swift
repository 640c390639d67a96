internal import Base
import Testing

@testable import TLS

/// A hello by a name, with what must come of it.
struct HelloRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let violation: ClientHelloViolation

    init(_ name: String, _ violation: ClientHelloViolation, _ bytes: [UInt8]) {
        testDescription = name
        self.bytes = bytes
        self.violation = violation
    }

    init(
        _ name: String, _ violation: ClientHelloViolation,
        _ change: (inout ClientHelloBuilder) -> Void
    ) {
        var builder = ClientHelloBuilder()
        change(&builder)
        self.init(name, violation, builder.records())
    }

    init(
        _ name: String, _ violation: ClientHelloViolation, extension type: UInt16,
        _ content: [UInt8]
    ) {
        self.init(name, violation) { $0.extensions = [(type, content)] }
    }
}

private func outcome(_ bytes: [UInt8]) -> Result<ClientHello?, ClientHelloViolation> {
    Result { () throws(ClientHelloViolation) in try ClientHelloReader.read(bytes.span) }
}

/// Feeds the bytes one by one; what the reader says first stands.
private func outcomeByteByByte(_ bytes: [UInt8]) -> Result<ClientHello?, ClientHelloViolation> {
    for count in 0...bytes.count {
        let result = outcome([UInt8](bytes.prefix(count)))
        if result != .success(nil) { return result }
    }
    return .success(nil)
}

@Suite struct ClientHelloReaderTests {
    @Test(arguments: ClientHelloSample.all)
    func realClientsAreRead(_ sample: ClientHelloSample) throws {
        let hello = try #require(try ClientHelloReader.read(sample.bytes.span))
        #expect(hello.serverName == sample.serverName)
        #expect(hello.alpn == sample.alpn)
        #expect(hello.highestVersion == sample.highestVersion)
        #expect(hello.cipherSuites.count == sample.suiteCount)
        #expect(hello.extensions.count == sample.extensionCount)
        #expect(hello.compressionMethods == [0])
        #expect(hello.format == .tls)
        #expect(hello.raw == [UInt8](sample.bytes.dropFirst(5)))
    }

    @Test(arguments: ClientHelloSample.all)
    func everyPartOfAHelloNeedsMore(_ sample: ClientHelloSample) {
        let bytes = sample.bytes
        for count in 0..<bytes.count {
            #expect(outcome([UInt8](bytes.prefix(count))) == .success(nil), "\(count) bytes")
        }
    }

    @Test(arguments: ClientHelloSample.all)
    func recordsMayCutAnywhere(_ sample: ClientHelloSample) {
        let whole = outcome(sample.bytes)
        let message = [UInt8](sample.bytes.dropFirst(5))
        for cut in 1..<message.count {
            #expect(outcome(ClientHelloBuilder.records(message, cutAt: [cut])) == whole, "\(cut)")
        }
        #expect(outcome(ClientHelloBuilder.records(message, cutAt: [1, 2, 3, 4, 5])) == whole)
    }

    @Test func whatFollowsTheHelloIsLeft() {
        let bytes = ClientHelloSample.curl.bytes
        #expect(outcome(bytes + [20, 3, 3, 0, 1, 1]) == outcome(bytes))
    }

    @Test func limitsHoldExactly() {
        // The message has 43 bytes apart from its one extension of 4.
        func hello(contentLength: Int) -> ClientHelloBuilder {
            var builder = ClientHelloBuilder()
            builder.extensions = [(21, [UInt8](repeating: 0, count: contentLength))]
            return builder
        }
        let most = ClientHelloReader.messageLimit - 47
        #expect(throws: Never.self) {
            let read = try ClientHelloReader.read(hello(contentLength: most).records().span)
            #expect(read?.raw.count == ClientHelloReader.messageLimit + 4)
        }
        #expect(
            outcome(hello(contentLength: most + 1).records())
                == .failure(.helloTooLong(ClientHelloReader.messageLimit + 1)))

        let small = hello(contentLength: 64 * 2 - 51)
        #expect(small.message.count == 128)
        #expect(outcome(small.records(of: 2)) == outcome(small.records()))
        #expect(outcome(small.records(of: 1)) == .failure(.tooManyRecords(limit: 64)))
    }

    @Test func aHelloWithoutExtensionsIsRead() throws {
        var builder = ClientHelloBuilder()
        builder.extensions = nil
        builder.version = 0x0300
        let hello = try #require(try ClientHelloReader.read(builder.records().span))
        #expect(hello.extensions.isEmpty)
        #expect(hello.highestVersion == 0x0300)
    }

    @Test(arguments: [0x0002, 0x0301] as [UInt16])
    func ssl2HellosAreRecognised(version: UInt16) throws {
        let suites: [UInt8] = [0, 0, 0x2F, 1, 0, 0x80, 0, 0, 0x0A]
        let message =
            [1] + number(version) + number(9) + number(0) + number(16) + suites
            + [UInt8](repeating: 9, count: 16)
        let bytes = [0x80, UInt8(message.count)] + message
        let hello = try #require(try ClientHelloReader.read(bytes.span))
        #expect(hello.format == .ssl2)
        #expect(hello.highestVersion == version)
        #expect(hello.cipherSuites == [0x2F, 0x0A])
        #expect(hello.random == [UInt8](repeating: 9, count: 16))
        #expect(hello.raw == message)
        #expect(outcomeByteByByte(bytes) == .success(hello))
    }

    @Test(arguments: violations)
    func violationsAreNamed(_ row: HelloRow) {
        #expect(outcome(row.bytes) == .failure(row.violation))
        #expect(outcomeByteByByte(row.bytes) == .failure(row.violation))
        #expect(!row.violation.code.isEmpty)
        #expect(!row.violation.detail.isEmpty)
    }

    @Test(arguments: ClientHelloSample.all)
    func mutationsNeverCrashAndNeverChangeTheirMind(_ sample: ClientHelloSample) {
        var generator = SeededGenerator(state: 0x5A11_7904)
        var codes: Set<String> = []
        for _ in 0..<1500 {
            var bytes = sample.bytes
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = .random(in: 0...255, using: &generator)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.insert(.random(in: 0...255, using: &generator), at: place)
                default: bytes.remove(at: place)
                }
            }
            let result = outcome(bytes)
            if case .failure(let violation) = result { codes.insert(violation.code) }
            let part = [UInt8](bytes.prefix(.random(in: 0...bytes.count, using: &generator)))
            let early = outcome(part)
            #expect(early == .success(nil) || early == result)
        }
        #expect(codes.count >= 5, "the mutations reach too few of the checks: \(codes)")
    }

    private static let violations: [HelloRow] =
        recordRows + messageRows + ssl2Rows + extensionRows + serverNameRows

    private static let recordRows: [HelloRow] = [
        .init("HTTP", .notTLS(firstByte: 0x47), [UInt8]("GET / HTTP/1.1\r\n".utf8)),
        .init("another major version", .notTLS(firstByte: 22), [22, 2, 1, 0, 5]),
        .init("an alert", .recordType(21), [21, 3, 1, 0, 2, 2, 40]),
        .init("application data", .recordType(23), [23, 3, 3, 0, 1, 0]),
        .init("an alert within", .recordType(21), [22, 3, 1, 0, 1, 1, 21, 3, 1, 0, 2, 2, 40]),
        .init("rubbish within", .recordType(0x47), [22, 3, 1, 0, 1, 1, 0x47, 0x45]),
        .init("an empty record", .emptyRecord, [22, 3, 1, 0, 0]),
        .init("an empty record within", .emptyRecord, [22, 3, 1, 0, 1, 1, 22, 3, 1, 0, 0]),
        .init("a long record", .recordTooLong(16_385), [22, 3, 1, 0x40, 1]),
        .init("a ServerHello", .notAClientHello(messageType: 2)) { $0.messageType = 2 },
        .init("16 MB", .helloTooLong(0xFFFFFF), [22, 3, 1, 0, 4, 1, 255, 255, 255]),
    ]

    private static let messageRows: [HelloRow] = [
        .init("a message of nothing", .truncatedHello, [22, 3, 1, 0, 4, 1, 0, 0, 0]),
        .init("a message one byte short", .truncatedHello) { $0.lengthError = -1 },
        .init("bytes behind the extensions", .trailingBytes(1)) { $0.trailing = [0] },
        .init("a session id of 33 bytes", .badLength(.sessionID)) {
            $0.sessionID = [UInt8](repeating: 1, count: 33)
        },
        .init("no suites", .badLength(.cipherSuites)) { $0.suites = [] },
        .init("half a suite", .badLength(.cipherSuites)) { $0.suiteBytes = [0x13, 1, 0x13] },
        .init("no compression method", .badLength(.compressionMethods)) { $0.compression = [] },
        .init("half an extensions' length", .truncatedHello) {
            $0.extensions = nil
            $0.trailing = [0]
        },
        .init("extensions longer than the message", .truncatedHello) {
            $0.extensions = nil
            $0.trailing = [0, 9, 0, 0, 0, 0]
        },
    ]

    private static let ssl2Rows: [HelloRow] = [
        .init("SSL 2.0's server hello", .notTLS(firstByte: 0x80), [0x80, 5, 4, 0, 2]),
        .init("SSL 2.0 with another version", .notTLS(firstByte: 0x80), [0x80, 5, 1, 9, 9]),
        .init("SSL 2.0 without fields", .truncatedHello, [0x80, 3, 1, 0, 2]),
        .init("half a kind", .badLength(.cipherSuites), [0x80, 9, 1, 0, 2, 0, 2, 0, 0, 0, 16]),
        .init("a long session", .badLength(.sessionID), [0x80, 9, 1, 0, 2, 0, 3, 0, 33, 0, 16]),
        .init("a short challenge", .badLength(.challenge), [0x80, 9, 1, 0, 2, 0, 3, 0, 0, 0, 15]),
        .init("too few suites", .truncatedHello, [0x80, 10, 1, 0, 2, 0, 3, 0, 0, 0, 16, 0]),
        .init(
            "bytes behind the challenge", .trailingBytes(1),
            [0x80, 29, 1, 0, 2, 0, 3, 0, 0, 0, 16] + [UInt8](repeating: 0, count: 20)),
    ]

    private static let extensionRows: [HelloRow] = [
        .init("an extension twice", .duplicateExtension(23)) {
            $0.extensions = [(23, []), (35, []), (23, [])]
        },
        .init("a reserved one twice", .duplicateExtension(0x0A0A)) {
            $0.extensions = [(0x0A0A, []), (0x0A0A, [])]
        },
        .init("half an extension's head", .truncatedHello) {
            $0.extensions = nil
            $0.trailing = [0, 3, 0, 23, 0]
        },
        .init("groups cut off", .truncatedExtension(10), extension: 10, [0, 4, 0, 29]),
        .init("no groups", .badExtension(10), extension: 10, [0, 0]),
        .init("half a group", .badExtension(10), extension: 10, [0, 3, 0, 29, 0]),
        .init("bytes behind the groups", .badExtension(10), extension: 10, [0, 2, 0, 29, 0]),
        .init("empty groups", .truncatedExtension(10), extension: 10, []),
        .init("no point formats", .badExtension(11), extension: 11, [0]),
        .init("no algorithms", .badExtension(13), extension: 13, [0, 0]),
        .init("half an algorithm", .badExtension(13), extension: 13, [0, 1, 4]),
        .init("no protocols", .badExtension(16), extension: 16, [0, 0]),
        .init("an empty protocol", .badExtension(16), extension: 16, [0, 4, 2, 0x68, 0x32, 0]),
        .init("a protocol cut off", .truncatedExtension(16), extension: 16, [0, 2, 9, 0x68]),
        .init("no versions", .badExtension(43), extension: 43, [0]),
        .init("half a version", .badExtension(43), extension: 43, [3, 3, 4, 3]),
    ]

    private static let serverNameRows: [HelloRow] = [
        .init("no list", .truncatedExtension(0), extension: 0, []),
        .init("an empty list", .badServerName(.empty), extension: 0, [0, 0]),
        .init("a list cut off", .truncatedExtension(0), extension: 0, [0, 9, 0, 0, 1, 0x61]),
        .init(
            "two names", .badServerName(.several), extension: 0,
            vector([0, 0, 1, 0x61, 0, 0, 1, 0x62])),
        .init("no host name", .badServerName(.empty), extension: 0, vector([7, 0, 1, 0x61])),
        .init("bytes behind", .badExtension(0), extension: 0, vector([0, 0, 1, 0x61]) + [0]),
    ]
}
