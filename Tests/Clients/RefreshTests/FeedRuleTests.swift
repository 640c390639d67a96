import Base
import HTTPModel
import Testing

@testable import Refresh

struct FeedRuleTests {
    private static let now: Int64 = 1_780_000_000_000

    private static func fields(_ pairs: [(StaticString, String)]) -> Fields {
        pairs.reduce(Fields.none) { $0.setting($1.0, to: [UInt8]($1.1.utf8)) }
    }

    private static func feed(_ ids: Int...) -> [UInt8] {
        let items = ids.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
        return [UInt8](
            #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items)]}"#.utf8)
    }

    private static func answer(
        _ status: Int, _ pairs: [(StaticString, String)] = [], _ content: [UInt8]? = []
    ) -> FeedRule.Answer {
        FeedRule.Answer(status: status, fields: fields(pairs), content: content)
    }

    /// Keeps tags as they came, weak ones too, and nothing that is none.
    @Test(
        arguments: [
            (#""a""#, #""a""#), (#"W/"a""#, #"W/"a""#), ("a", nil), (#""a"b"#, nil), ("", nil),
        ] as [(String, String?)])
    func keepsTags(_ tag: String, _ kept: String?) {
        var state = FeedState("u")
        _ = FeedRule.judge(Self.answer(200, [("etag", tag)], Self.feed(1)), &state, at: Self.now)
        #expect(state.entityTag == kept)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("yesterday", false), ("1994-11-06", false),
    ])
    func keepsDates(_ date: String, _ isKept: Bool) {
        var state = FeedState("u")
        let answer = Self.answer(200, [("last-modified", date)], Self.feed(1))
        _ = FeedRule.judge(answer, &state, at: Self.now)
        #expect(state.lastModified == (isKept ? date : nil))
    }

    @Test(
        arguments: [
            ("120", 120_000), ("0", 0), ("99999999999999999999", 86_400_000), ("-1", nil),
            ("soon", nil),
            ("", nil), ("Thu, 28 May 2026 20:27:40 GMT", 60_000),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ] as [(String, Int64?)])
    func readsRetryAfter(_ value: String, _ wait: Int64?) {
        let fields = Self.fields([("retry-after", value)])
        #expect(FeedRule.retryAfter(fields, at: Self.now) == wait)
    }

    @Test func tellsNothingTwice() {
        var state = FeedState("u")
        var told: [[String]] = []
        let polls: [(String, [UInt8])] = [
            ("\"1\"", Self.feed(2, 1)), ("\"2\"", Self.feed(2, 1)), ("\"3\"", Self.feed(1, 2)),
            ("\"4\"", Self.feed(3, 3, 2)), ("\"5\"", Self.feed(1)), ("\"6\"", Self.feed()),
        ]
        for (tag, content) in polls {
            let (outcome, _) = FeedRule.judge(
                Self.answer(200, [("etag", tag)], content), &state, at: Self.now)
            if case .new(let new) = outcome { told.append(new.map(\.id)) } else { told.append([]) }
        }
        #expect(told == [["2", "1"], [], [], ["3"], [], []])
        #expect(state.flapCount == 4)
        #expect(state.duplicateCount == 1)
    }

    /// What cannot be read leaves all as it was, so that the same is asked for again.
    @Test(
        arguments: [
            (200, [UInt8]("{".utf8), "feed-malformed"), (200, nil, "feed-unreadable"),
            (204, [], "feed-status"), (404, [], "feed-status"), (500, [], "feed-status"),
            (206, [], "feed-status"), (302, [], "feed-status"),
        ] as [(Int, [UInt8]?, String)])
    func leavesTheStateAlone(_ status: Int, _ content: [UInt8]?, _ code: String) {
        var state = FeedState("u")
        _ = FeedRule.judge(
            Self.answer(200, [("etag", "\"1\"")], Self.feed(1)), &state, at: Self.now)
        let before = state
        let (outcome, hasMore) = FeedRule.judge(
            Self.answer(status, [("etag", "\"2\"")], content), &state, at: Self.now + 1)
        #expect(state == before)
        #expect(!hasMore)
        guard case .failed(code, _) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    /// A state that was read may have any numbers.
    @Test func countsNoFurtherThanNumbersGo() {
        var state = FeedState("u")
        _ = FeedRule.judge(
            Self.answer(200, [("etag", "\"1\"")], Self.feed(1)), &state, at: Self.now)
        (state.flapCount, state.duplicateCount) = (.max, .max)
        for (tag, content) in [("\"2\"", Self.feed(1)), ("\"3\"", Self.feed(1, 1))] {
            _ = FeedRule.judge(
                Self.answer(200, [("etag", tag)], content), &state, at: Self.now)
        }
        #expect(state.flapCount == .max)
        #expect(state.duplicateCount == .max)
    }

    /// A cursor with which no request could be made is not kept, nor a tag that is too long.
    @Test(
        arguments: [
            ("u", "7", true), ("u", String(repeating: "x", count: 1024), true),
            ("u", String(repeating: "x", count: 1025), false),
            ("u?" + String(repeating: "q", count: 6000), String(repeating: "ä", count: 500), false),
        ] as [(String, String, Bool)])
    func keepsCursors(_ path: String, _ cursor: String, _ isKept: Bool) {
        var state = FeedState("http://h/" + path)
        state.cursor = "before"
        let content = [UInt8](#"{"items":[{"id":"1"}],"next":"\#(cursor)","more":true}"#.utf8)
        let tag = "\"" + cursor.utf8.map { _ in "t" }.joined() + "\""
        let (_, hasMore) = FeedRule.judge(
            Self.answer(200, [("etag", tag)], content), &state, at: Self.now)
        #expect(state.cursor == (isKept ? cursor : "before"))
        #expect(hasMore == isKept)
        #expect((state.entityTag != nil) == (tag.utf8.count <= 1024))
    }

    @Test func remembersSoManyItems() {
        var state = FeedState("u")
        for start in 0..<6 {
            let items = (0..<900).map { #"{"id":"\#(start * 900 + $0)"}"# }.joined(separator: ",")
            let text = #"{"version":"https://jsonfeed.org/version/1.1","items":[\#(items)]}"#
            _ = FeedRule.judge(Self.answer(200, [], [UInt8](text.utf8)), &state, at: Self.now)
        }
        #expect(state.known.count == FeedState.knownLimit)
    }
}
