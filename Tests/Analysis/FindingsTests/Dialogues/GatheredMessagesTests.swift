import Base
import Testing
import Traffic

@testable import Findings
@testable import Logins

@Suite struct GatheredMessagesTests {
    @Test func boundsEachDirection() {
        var messages = GatheredMessages()
        let piece = [UInt8](repeating: 0x61, count: 300_000)
        for number in 1...8 { _ = messages.add(Self.record(number, .response, piece)) }
        #expect(messages.isTruncated)
        let wantsOther = messages.add(Self.record(9, .request, Array("AUTH".utf8)))
        #expect(wantsOther)
        let conversation = messages.conversation(of: nil)
        #expect(conversation?.origin.count == GatheredMessages.byteLimit)
        #expect(conversation?.client.text == "AUTH")
        let wantsMore = messages.add(
            Self.record(10, .request, [UInt8](repeating: 1, count: 2 << 20)))
        #expect(!wantsMore)
    }

    @Test func boundsTinyMessages() {
        var messages = GatheredMessages()
        var count = 0
        while messages.add(Self.record(count + 1, .request, [0x61], kind: .ping)) { count += 1 }
        #expect(count == GatheredMessages.countLimit)
        #expect(messages.isTruncated)
        #expect(messages.conversation(of: nil) == nil)
    }

    @Test func joinsParts() {
        var messages = GatheredMessages()
        var first = Self.record(1, .request, Array("{\"a\":".utf8), kind: .text)
        first.isLast = false
        var second = Self.record(1, .request, Array("1}".utf8), kind: .text)
        second.part = 1
        _ = messages.add(first)
        _ = messages.add(Self.record(2, .response, Array("x".utf8), kind: .text))
        _ = messages.add(second)
        _ = messages.add(Self.record(3, .request, Array("y".utf8), kind: .text))
        let texts = messages.conversation(of: nil)?.messages.map(\.bytes.text)
        #expect(texts == ["{\"a\":1}", "x", "y"])
    }

    /// What stands on both sides of a gap must not look like one.
    @Test func stopsBehindGap() {
        var messages = GatheredMessages()
        var cut = Self.record(1, .request, Array("AU".utf8))
        cut.isTruncated = true
        _ = messages.add(cut)
        _ = messages.add(Self.record(2, .request, Array("TH x".utf8)))
        #expect(messages.conversation(of: nil)?.client.text == "AU")
        #expect(messages.isTruncated)
    }

    @Test func keepsExchangesApart() {
        var messages = GatheredMessages()
        for exchange: Int64 in [4, 2] {
            var record = MessageRecord(
                connection: 1, exchange: exchange, number: exchange, at: .init(microseconds: 1),
                direction: .request, kind: .text)
            record.bytes = [UInt8(exchange)]
            _ = messages.add(record)
        }
        #expect(messages.exchanges == [2, 4])
        #expect(messages.conversation(of: 2)?.messages.map(\.bytes) == [[2]])
        #expect(messages.conversation(of: nil) == nil)
    }

    private static func record(
        _ number: Int, _ direction: Direction, _ bytes: [UInt8],
        kind: MessageRecord.Kind = .segment
    ) -> MessageRecord {
        var record = MessageRecord(
            connection: 1, exchange: nil, number: Int64(number), at: .init(microseconds: 1),
            direction: direction, kind: kind)
        record.bytes = bytes
        record.size = Int64(bytes.count)
        return record
    }
}
