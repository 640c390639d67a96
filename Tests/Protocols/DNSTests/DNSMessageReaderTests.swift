import Base
import Testing

@testable import DNS

/// A message in hexadecimal digits, with spaces anywhere.
struct DNSSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ hex: String) {
        testDescription = name
        bytes = Base.bytes(fromHex: hex.filter { $0 != " " && $0 != "\n" }) ?? []
    }

    /// A question for `a.test`, type A.
    static let question = "01 61 04 74657374 00 0001 0001"
    /// The fields of a record behind its name.
    static func record(_ type: String, _ data: String, class recordClass: String = "0001") -> String
    {
        let count = data.filter { $0 != " " }.count / 2
        let length = [UInt8(count >> 8), UInt8(count & 0xFF)].hex
        return "\(type) \(recordClass) 0000003c \(length) \(data)"
    }

    static let all: [DNSSample] = [
        .init("glibc's query", "1234 0100 0001 0000 0000 0000" + question),
        .init(
            "with EDNS",
            "1234 0120 0001 0000 0000 0001" + question + "00 0029 04d0 0000 8000 000c"
                + "000a 0008 0102030405060708"),
        .init("nothing but a header", "0000 8183 0000 0000 0000 0000"),
        .init(
            "an alias and addresses",
            "1234 8180 0001 0003 0000 0000" + question + "c00c" + record("0005", "0162 c00e")
                + "c024" + record("0001", "c0000201") + "c024"
                + record("001c", "20010db8000000000000000000000001")),
        .init(
            "all sections",
            "1234 8580 0001 0001 0001 0002" + question + "c00c" + record("0010", "0161")
                + "c00e" + record("0002", "026e73 c00e") + "00" + record("0101", "00")
                + "00 0029 1000 01 00 0000 0000"),
        .init(
            "HTTPS as large sites have it",
            "1234 8180 0001 0001 0000 0000 01 61 04 74657374 00 0041 0001 c00c"
                + record(
                    "0041", "0001 00 0001 0006 02 6833 02 6832 0004 0004 c0000201 0005 0002 aabb")),
        .init(
            "RFC 9460 D.1, an alias",
            "0000 8180 0000 0001 0000 0000 00"
                + record("0041", "0000 03666f6f 076578616d706c65 03636f6d 00")),
        .init(
            "RFC 9460 D.2, two protocols",
            "0000 8180 0000 0001 0000 0000 00"
                + record(
                    "0040",
                    "0010 03666f6f 076578616d706c65 036f7267 00 0000 0004 0001 0004"
                        + "0001 0009 02 6832 05 68332d3139 0004 0004 c0000201")),
        .init(
            "another class",
            "0000 8180 0000 0001 0000 0000 00" + record("0001", "01", class: "0003")),
    ]
}

@Suite struct DNSMessageReaderTests {
    private typealias Outcome = Result<DNSMessage, DNSViolation>

    private func outcome(_ bytes: [UInt8]) -> Outcome {
        do throws(DNSViolation) {
            return .success(try DNSMessageReader.read(bytes.span))
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: DNSSample.all)
    func messagesAreReadAndWrittenAgain(_ sample: DNSSample) throws {
        let message = try DNSMessageReader.read(sample.bytes.span)
        let written = DNSMessageWriter.write(message)
        #expect(try DNSMessageReader.read(written.span) == message)
    }

    @Test(arguments: DNSSample.all)
    func everyCutIsRefusedAndKeepsWhatCame(_ sample: DNSSample) throws {
        let whole = try DNSMessageReader.read(sample.bytes.span)
        for count in 0..<sample.bytes.count {
            var reader = DNSMessageReader(Array(sample.bytes.prefix(count)).span)
            #expect(throws: DNSViolation.truncatedMessage, "\(count) bytes") { try reader.read() }
            #expect(reader.hasHeader == (count >= 12))
            #expect(
                reader.message.questions
                    == Array(whole.questions.prefix(reader.message.questions.count)))
            #expect(
                reader.message.answers == Array(whole.answers.prefix(reader.message.answers.count)))
        }
        #expect(outcome(sample.bytes + [0]) == .failure(.trailingBytes(1)))
    }

    @Test func fieldsAreTold() throws {
        let query = try outcome(DNSSample.all[1].bytes).get()
        #expect(query.id == 0x1234)
        #expect(query.flags == [.recursionDesired, .authenticData])
        #expect(query.questions == [DNSQuestion(try #require(DNSName("a.test")), .a)])
        #expect(query.options?.payloadSize == 1232)
        #expect(query.options?.dnssecOK == true)
        #expect(query.options?.raw.count == 12)

        let response = try outcome(DNSSample.all[3].bytes).get()
        #expect(response.flags == [.response, .recursionDesired, .recursionAvailable])
        #expect(response.answers.map(\.name.description) == ["a.test", "b.test", "b.test"])
        #expect(response.answers[0].data == .name(try #require(DNSName("b.test"))))
        #expect(response.answers[1].data == .address([192, 0, 2, 1]))
        #expect(response.answers[1].lifetime == 60)

        let all = try outcome(DNSSample.all[4].bytes).get()
        #expect(all.code == .badVersion)
        #expect(all.additionals.count == 1)
        #expect(all.authorities.first?.type.description == "TYPE2")

        let https = try outcome(DNSSample.all[5].bytes).get()
        guard case .service(let binding)? = https.answers.first?.data else {
            Issue.record("no service binding")
            return
        }
        #expect(binding.protocolNames?.map(\.text) == ["h3", "h2"])
        #expect(binding.value(DNSServiceBinding.Key.encryptedHello) == [0xAA, 0xBB])
        #expect(binding.target == .root)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violation: DNSViolation
        let bytes: [UInt8]

        init(_ name: String, _ violation: DNSViolation, _ hex: String) {
            testDescription = name
            self.violation = violation
            bytes = DNSSample("", hex).bytes
        }
    }

    private static let one = "0000 0000 0001 0000 0000 0000"
    private static let answer = "0000 8000 0000 0001 0000 0000 00"

    @Test(arguments: [
        Row("a reserved label", .labelType(0x40), one + "40 00 0001 0001"),
        Row("another", .labelType(0x80), one + "80 00 0001 0001"),
        Row("a pointer to itself", .pointerNotBackwards, one + "c00c 0001 0001"),
        Row("forwards", .pointerNotBackwards, one + "c00e 00 0001 0001"),
        Row("round", .pointerNotBackwards, one + "0161 c00c 0001 0001"),
        Row("into the header, and on", .labelType(0x80), "0000 8000 0001 0000 0000 0000 c002"),
        Row(
            "64 labels", .nameTooLong, one + String(repeating: "03616161", count: 64)),
        Row("records for ever", .tooManyRecords(limit: 256), "0000 0000 ffff ffff ffff ffff"),
        Row("one too many", .tooManyRecords(limit: 256), "0000 0000 0001 0100 0000 0000"),
        Row("256 that are not there", .truncatedMessage, "0000 0000 0000 0100 0000 0000"),
        Row("3 bytes of address", .badRecord(.a), answer + DNSSample.record("0001", "010203")),
        Row("5 bytes of address", .badRecord(.a), answer + DNSSample.record("0001", "0102030405")),
        Row(
            "15 bytes", .badRecord(.aaaa),
            answer + DNSSample.record("001c", String(repeating: "00", count: 15))),
        Row("an alias for nothing", .badRecord(.cname), answer + DNSSample.record("0005", "")),
        Row("an alias that goes on", .badRecord(.cname), answer + DNSSample.record("0005", "0161")),
        Row("bytes behind an alias", .badRecord(.cname), answer + DNSSample.record("0005", "0000")),
        Row(
            "a service's pointer", .pointerNotBackwards,
            answer + DNSSample.record("0041", "0001 c00c")),
        Row(
            "a service cut off", .badRecord(.https),
            answer + DNSSample.record("0041", "0001 00 0001 0004 02")),
        Row(
            "a parameter twice", .badRecord(.svcb),
            answer + DNSSample.record("0040", "0001 00 0003 0002 0001 0003 0002 0001")),
        Row(
            "parameters that descend", .badRecord(.svcb),
            answer + DNSSample.record("0040", "0001 00 0003 0002 0001 0000 0000")),
        Row("options as an answer", .badOptions, answer + "0029 04d0 00000000 0000"),
        Row(
            "named options", .badOptions,
            "0000 0000 0000 0000 0000 0001 0161 00 0029 04d0 00000000 0000"),
        Row(
            "options twice", .badOptions,
            "0000 0000 0000 0000 0000 0002 00 0029 04d0 00000000 0000 00 0029 04d0 00000000 0000"),
    ])
    func violationsAreNamed(_ row: Row) {
        #expect(outcome(row.bytes) == .failure(row.violation))
        #expect(!row.violation.code.isEmpty)
        #expect(!row.violation.detail.isEmpty)
    }

    @Test func pointersAreCounted() {
        // Pointers in the data of records, each to the one before, and a name that takes them all.
        func chain(_ count: Int) -> [UInt8] {
            var data: [UInt8] = [0]
            // The data begins behind the header, a root name and ten bytes.
            let start = 23
            for index in 0..<count {
                let target = index == 0 ? start : start + 1 + 2 * (index - 1)
                data += [0xC0 | UInt8(target >> 8), UInt8(target & 0xFF)]
            }
            let last = data.removeLast()
            let name = [data.removeLast(), last]
            let head = DNSSample("", "0000 8000 0000 0002 0000 0000 00 0010 0001 0000003c").bytes
            return head + [0, UInt8(data.count)] + data + name + [0, 16, 0, 1, 0, 0, 0, 0, 0, 0]
        }
        #expect(throws: Never.self) { try outcome(chain(DNSCursor.pointerLimit)).get() }
        #expect(
            outcome(chain(DNSCursor.pointerLimit + 1))
                == .failure(.tooManyPointers(limit: DNSCursor.pointerLimit)))
    }

    @Test func theLongestNameIsRead() {
        let labels = String(repeating: "3f" + String(repeating: "61", count: 63), count: 3)
        let most = labels + "3d" + String(repeating: "61", count: 61)
        #expect(throws: Never.self) {
            try outcome(DNSSample("", Self.one + most + "00 0001 0001").bytes).get()
        }
        let more = labels + "3e" + String(repeating: "61", count: 62)
        #expect(
            outcome(DNSSample("", Self.one + more + "00 0001 0001").bytes) == .failure(.nameTooLong)
        )
    }

    @Test(arguments: DNSSample.all)
    func mutationsNeverCrash(_ sample: DNSSample) {
        var generator = SeededGenerator(state: 0xD15)
        var codes: Set<String> = []
        let rule = DNSAnswerRule(names: NameTable(nameLimit: 8))
        for _ in 0..<3000 {
            var bytes = sample.bytes
            for _ in 0...Int.random(in: 0..<3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: bytes[place] = .random(in: 0...255, using: &generator)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 2: bytes.insert(.random(in: 0...255, using: &generator), at: place)
                case 3: bytes[place] = [0xC0, 0xFF, 0, 63].randomElement(using: &generator) ?? 0
                case 4: bytes.removeSubrange(place...)
                default: bytes.remove(at: place)
                }
            }
            switch outcome(bytes) {
            case .failure(let violation): codes.insert(violation.code)
            case .success(let message):
                let written = DNSMessageWriter.write(message)
                #expect(outcome(written) == .success(message))
            }
            if let answer = rule.answer(bytes.span, over: .datagram) {
                #expect(answer.bytes.count <= answer.byteLimit)
                #expect(throws: Never.self) { try outcome(answer.bytes).get() }
            }
        }
        #expect(codes.count >= 2, "the mutations reach too few of the checks: \(codes)")
    }
}

/// A generator whose sequence depends on the seed only (SplitMix64).
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
