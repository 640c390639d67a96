import Base
import Testing
import Traffic

@testable import PacketFormats

@Suite struct PacketWayTests {
    @Test(arguments: ConnectionRecord.Mode.allCases, ["", "mail.example", "2001:db8::1"])
    func isReadAsItWasWritten(_ mode: ConnectionRecord.Mode, _ host: String) throws {
        for hasLogin in [false, true] {
            var record = ConnectionRecord(
                id: 1, openedAt: Timestamp(microseconds: 1), client: "", listener: "", mode: mode)
            record.originHost = host
            record.originPort = 25
            record.notes = hasLogin ? [.proxyLogin] : []
            let way = PacketWay(record)
            #expect(PacketWay(comment: way.comment) == way)
            #expect(way.hasLogin == hasLogin && (way.origin == nil) == host.isEmpty)
        }
    }

    @Test(arguments: [
        "", ", ", "came in by ", "came in by nonsense", "a comment", "came in by reverse; to a:1",
        "connection 1: packets are made from a recording",
    ])
    func isNoOtherComment(_ text: String) { #expect(PacketWay(comment: text) == nil) }

    @Test(arguments: ["to ", "to a b:1", "to a:99999", "for a:1", "to a:1:2\u{1B}[31m"])
    func namesNoOriginThatIsNone(_ text: String) {
        #expect(PacketWay(comment: "came in by reverse, \(text)")?.origin == nil)
    }
}
