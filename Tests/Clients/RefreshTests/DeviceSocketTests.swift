import Base
import Testing

@testable import Refresh

struct DeviceSocketTests {
    private static let event = """
        : phone

        id: 7
        event: push
        data: {"id":"A","token":"t","topic":"news","silent":true,"piggybacked":true,
        data: "payload":{"aps":{"content-available":1}}}


        """

    private static func read(_ text: String, pieces: Int) -> [DevicePush] {
        var reader = DeviceEventReader()
        var pushes: [DevicePush] = []
        var rest = [UInt8](text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces))
            pushes += reader.read(piece.span)
            rest = rest.dropFirst(pieces)
        }
        return pushes
    }

    @Test(arguments: [1, 2, 7, 10_000], ["\n", "\r\n", "\r"])
    func readsEvents(_ pieces: Int, _ end: String) throws {
        let pushes = Self.read(Self.event.replacing("\n", with: end), pieces: pieces)
        let push = try #require(pushes.first)
        #expect(pushes.count == 1)
        #expect(push.ordinal == 7)
        #expect(push.topic == "news")
        #expect(push.token == "t")
        #expect(push.kind == .silent)
        #expect(push.isPiggybacked)
    }

    @Test(arguments: [
        (#"{"token":"t","topic":"a","payload":{"aps":{"alert":"x"}}}"#, TracePush.Kind.alert),
        (
            #"{"token":"t","topic":"a","payload":{"aps":{"alert":"x","content-available":1}}}"#,
            .alertWithContent
        ),
        (#"{"token":"t","topic":"a","silent":true,"payload":"no JSON"}"#, .silent),
        (#"{"token":"t","topic":"a"}"#, .alert),
    ])
    func tellsKinds(_ data: String, _ kind: TracePush.Kind) {
        #expect(DevicePush(ordinal: 1, data: [UInt8](data.utf8))?.kind == kind)
    }

    @Test(arguments: [
        "data: {}\n\n", "id: 1\n\n", "id: x\ndata: {\"topic\":\"a\",\"token\":\"t\"}\n\n",
        "id: 1\ndata: {\n\n", "id: 1\ndata: {\"topic\":\"a\",\"token\":\"t\"}\n",
    ])
    func takesNothingElse(_ text: String) {
        #expect(Self.read(text, pieces: 5).isEmpty)
    }

    @Test func boundsAnEvent() {
        var reader = DeviceEventReader()
        let long = [UInt8](repeating: 0x61, count: DeviceEventReader.byteLimit)
        _ = reader.read(long.span)
        #expect(!reader.isOverlong)
        _ = reader.read([UInt8]("aa".utf8).span)
        #expect(reader.isOverlong)
    }

    /// Pauses are random parts of a time that doubles, and begin anew behind a success.
    @Test func backsOff() {
        var longest: Int64 = 0
        for seed in 0..<200 as Range<UInt64> {
            var rule = ReconnectRule(seed: seed)
            var most = ReconnectRule.first
            for _ in 0..<20 {
                let pause = rule.noteEnd()
                #expect((1...most).contains(pause))
                longest = max(longest, pause)
                most = min(2 * most, ReconnectRule.limit)
            }
            rule.noteSuccess()
            #expect(rule.noteEnd() <= ReconnectRule.first)
        }
        #expect(longest > ReconnectRule.limit / 2)
        var (one, other) = (ReconnectRule(seed: 1), ReconnectRule(seed: 2))
        #expect((0..<4).map { _ in one.noteEnd() } != (0..<4).map { _ in other.noteEnd() })
    }

    @Test(arguments: [
        ("http://h/a/b.png?x=1", "b.png"), ("http://h/", ""), ("http://h/a/..%2f..", ".._2f.."),
        ("http://h/\(String(repeating: "n", count: 300))", String(repeating: "n", count: 64)),
    ])
    func namesAssets(_ url: String, _ end: String) {
        let name = AssetName.of(url)
        #expect(name.hasSuffix("-\(end)"))
        #expect(!name.contains("/"))
        #expect(name != AssetName.of(url + "&"))
        // 128 bits: nobody finds two URLs with the same name.
        #expect(name.prefix { $0 != "-" }.count == 32)
    }
}
