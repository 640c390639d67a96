import Base
import Testing

@testable import DNS

@Suite struct DNSMessageWriterTests {
    private let name = DNSName(checked: [[0x61], [UInt8]("Test".utf8)])

    private var query: DNSMessage {
        var query = DNSMessage()
        query.id = 0x1234
        query.flags = [.recursionDesired]
        query.questions = [DNSQuestion(name, .a)]
        return query
    }

    @Test(arguments: [
        (DNSResponseCode.noError, "12348180000100000000000001610454657374 0000010001"),
        (.noSuchName, "12348183000100000000000001610454657374 0000010001"),
        (.serverFailure, "12348182000100000000000001610454657374 0000010001"),
    ])
    func emptyResponsesAreWritten(code: DNSResponseCode, hex: String) {
        let written = DNSMessageWriter.write(.response(to: query, code))
        #expect(written.hex == hex.filter { $0 != " " })
    }

    @Test func addressesPointToTheQuestion() {
        let record = DNSRecord(name, .a, lifetime: 60, .address([198, 18, 0, 1]))
        let written = DNSMessageWriter.write(.response(to: query, .noError, answers: [record]))
        #expect(written.hex.hasSuffix("0000010001" + "c00c000100010000003c0004c6120001"))
    }

    @Test func optionsAreRepeatedMinimally() {
        var query = query
        query.options = DNSOptions(payloadSize: 4096, dnssecOK: true, raw: [0, 10, 0, 2, 1, 2])
        let written = DNSMessageWriter.write(.response(to: query, .badVersion))
        #expect(written.hex.hasPrefix("12348180"))
        #expect(written.hex.hasSuffix("00002904d0010080000000"))
    }

    @Test(arguments: [nil, 0, 511, 512, 513, 1232, 4096, 65_535] as [UInt16?])
    func whatIsTooLongIsLeftOutAndTold(payloadSize: UInt16?) throws {
        var query = query
        query.options = payloadSize.map { DNSOptions(payloadSize: $0) }
        let limit = DNSMessageWriter.datagramLimit(for: query)
        #expect((512...1232).contains(limit))
        let records = (0..<100).map { index in
            DNSRecord(name, .a, lifetime: 60, .address([198, 18, 0, UInt8(index)]))
        }
        let response = DNSMessage.response(to: query, .noError, answers: records)
        let written = DNSMessageWriter.write(response, byteLimit: limit)
        #expect(written.count <= limit && written.count > limit - 16)
        let read = try DNSMessageReader.read(written.span)
        #expect(read.flags.contains(.truncated))
        #expect(read.answers == Array(records.prefix(read.answers.count)))
        #expect(read.options == response.options)
        let whole = try DNSMessageReader.read(DNSMessageWriter.write(response).span)
        #expect(whole == response)
    }

    @Test func dataThatNoRecordHoldsIsLeftOut() throws {
        let data = [UInt8](repeating: 0, count: 70_000)
        let record = DNSRecord(name, .txt, lifetime: 60, .other(data))
        let written = DNSMessageWriter.write(.response(to: query, .noError, answers: [record]))
        let read = try DNSMessageReader.read(written.span)
        #expect(read.answers.isEmpty && read.flags.contains(.truncated))
    }

    @Test func streamsAreCutAnywhere() {
        let messages: [[UInt8]] = [[1, 2, 3], [], [UInt8](repeating: 9, count: 65_535)]
        for message in messages {
            let bytes = DNSStreamReader.framed(message)
            for count in stride(from: 0, to: bytes.count, by: message.count > 9 ? 997 : 1) {
                #expect(DNSStreamReader.message(in: Array(bytes.prefix(count)).span) == nil)
            }
            let more = bytes + [0, 1, 7]
            #expect(DNSStreamReader.message(in: bytes.span) == 2..<bytes.count)
            #expect(DNSStreamReader.message(in: more.span) == 2..<bytes.count)
        }
    }
}
