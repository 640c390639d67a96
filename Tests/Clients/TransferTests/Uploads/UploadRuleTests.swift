import Base
import Contents
import HTTPCodecs
import HTTPModel
import Testing

@testable import Transfer

/// draft-ietf-httpbis-resumable-upload §4, tus 1.0, RFC 9110 §15.
struct UploadRuleTests {
    private static let url = "http://origin.test/upload"

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var way = UploadWay(mode: .resumable)
        let action: UploadAction
        /// Of 1000 bytes, 400 are confirmed, and 900 may have been sent.
        var change: @Sendable (inout UploadState) -> Void = { _ in }
        /// A status and fields.
        let answer: String
        let step: String
        var testDescription: String { name }
    }

    private static let rest = UploadAction.append(400..<1000, isDigested: false)
    private static let part = UploadAction.append(400..<600, isDigested: false)
    private static let put = UploadWay(mode: .put)
    private static let post = UploadWay(mode: .put, method: "POST")
    private static let tus = UploadWay(mode: .tus)
    private static let automatic = UploadWay(mode: .automatic)
    private static let bare: @Sendable (inout UploadState) -> Void = { $0.resource = nil }

    static let rows: [Row] = [
        Row(
            name: "PUT", way: put, action: .sendWhole, change: bare, answer: "201", step: "complete"
        ),
        Row(
            name: "a form", way: UploadWay(mode: .form), action: .sendWhole, change: bare,
            answer: "200", step: "complete"),
        Row(
            name: "PUT is unavailable", way: put, action: .sendWhole, change: bare,
            answer: "503\nRetry-After: 7", step: "wait 7"),
        Row(
            name: "PUT breaks the server", way: put, action: .sendWhole, change: bare,
            answer: "500", step: "wait"),
        Row(
            name: "POST breaks the server", way: post, action: .sendWhole, change: bare,
            answer: "502", step: "refuse upload-uncertain"),
        Row(
            name: "POST is unavailable", way: post, action: .sendWhole, change: bare,
            answer: "503\nRetry-After: 7", step: "wait 7"),
        Row(
            name: "POST is unavailable ahead of its end", way: post, action: .sendWhole,
            change: bare, answer: "503", step: "wait"),
        Row(
            name: "POST is unavailable behind its end", way: post, action: .sendWhole,
            change: {
                $0.resource = nil
                $0.isSent = true
            }, answer: "503", step: "refuse upload-uncertain"),
        Row(
            name: "POST is too early", way: post, action: .sendWhole, change: bare, answer: "425",
            step: "wait"),
        Row(
            name: "PUT is refused", way: put, action: .sendWhole, change: bare, answer: "413",
            step: "refuse status-413"),
        Row(
            name: "PUT is not there", way: put, action: .sendWhole, change: bare, answer: "404",
            step: "refuse status-404"),
        Row(
            name: "307", way: put, action: .sendWhole, change: bare, answer: "307\nLocation: /b",
            step: "redirect /b"),
        Row(
            name: "303", way: put, action: .sendWhole, change: bare, answer: "303\nLocation: /b",
            step: "refuse redirect-drops-content"),
        Row(name: "302 of HEAD", action: .ask, answer: "302\nLocation: /b", step: "redirect /b"),
        Row(name: "308 to nowhere", action: rest, answer: "308", step: "refuse redirect-invalid"),
        Row(
            name: "401", action: rest, answer: "401\nWWW-Authenticate: Basic realm=a",
            step: "authenticate basic"),
        Row(
            name: "407", action: rest, answer: "407\nWWW-Authenticate: Basic realm=a",
            step: "refuse proxy-login-wanted"),

        Row(
            name: "an ordinary server", way: automatic, action: .sendWhole, change: bare,
            answer: "204", step: "complete"),
        Row(
            name: "all in one", way: automatic, action: .sendWhole,
            answer: "201\nUpload-Complete: ?1\nUpload-Offset: 1000", step: "complete"),
        Row(
            name: "in draft 3", way: UploadWay(mode: .automatic, version: .draft(3)),
            action: .sendWhole, answer: "201\nUpload-Incomplete: ?0", step: "complete"),
        Row(
            name: "not all in draft 3", way: UploadWay(mode: .automatic, version: .draft(3)),
            action: .sendWhole, answer: "201\nUpload-Incomplete: ?1", step: "ask"),
        Row(
            name: "incomplete, and known", way: automatic, action: .sendWhole,
            answer: "201\nUpload-Complete: ?0\nUpload-Offset: 500", step: "ask"),
        Row(
            name: "incomplete, and told now", way: automatic, action: .sendWhole, change: bare,
            answer: "201\nUpload-Complete: ?0\nLocation: /u/1", step: "begun /u/1"),
        Row(
            name: "incomplete, and nowhere", way: automatic, action: .sendWhole, change: bare,
            answer: "201\nUpload-Complete: ?0", step: "restart origin-violation"),
        Row(
            name: "complete with another size", way: automatic, action: .sendWhole,
            answer: "201\nUpload-Complete: ?1\nUpload-Offset: 900",
            step: "restart origin-violation"),
        Row(
            name: "complete and refused", way: automatic, action: .sendWhole,
            answer: "500\nUpload-Complete: ?1", step: "refuse status-500"),

        Row(
            name: "created", action: .create, change: bare, answer: "201\nLocation: /u/1",
            step: "begun /u/1"),
        Row(
            name: "created, and tells 0", action: .create, change: bare,
            answer: "201\nLocation: /u/1\nUpload-Offset: 0", step: "begun /u/1"),
        Row(
            name: "created with something", action: .create, change: bare,
            answer: "201\nLocation: /u/1\nUpload-Offset: 5", step: "restart origin-violation"),
        Row(
            name: "created nowhere", action: .create, change: bare, answer: "200",
            step: "refuse upload-unsupported"),
        Row(
            name: "limited", action: .create, change: bare,
            answer: "201\nLocation: /u/1\nUpload-Limit: max-size=999",
            step: "refuse upload-too-large"),
        Row(
            name: "limited below", action: .create, change: bare,
            answer: "201\nLocation: /u/1\nUpload-Limit: min-size=1001",
            step: "refuse upload-too-small"),
        Row(
            name: "a limit that is no number", action: .create, change: bare,
            answer: "201\nLocation: /u/1\nUpload-Limit: max-size=?0, max-age=5",
            step: "begun /u/1"),

        Row(
            name: "how far", action: .ask, answer: "204\nUpload-Offset: 600\nUpload-Complete: ?0",
            step: "confirmed 600"),
        Row(
            name: "no further", action: .ask, answer: "204\nUpload-Offset: 400",
            step: "confirmed 400"),
        Row(
            name: "less than before", action: .ask, answer: "204\nUpload-Offset: 399",
            step: "restart data-lost"),
        Row(
            name: "more than was sent", action: .ask, answer: "204\nUpload-Offset: 901",
            step: "restart origin-violation"),
        Row(
            name: "more than there is", action: .ask, change: { $0.reach = 1000 },
            answer: "204\nUpload-Offset: 1001", step: "restart origin-violation"),
        Row(
            name: "no number", action: .ask, answer: "204\nUpload-Offset: :MTI=:",
            step: "wait"),
        Row(name: "negative", action: .ask, answer: "204\nUpload-Offset: -1", step: "wait"),
        Row(name: "a page", action: .ask, answer: "200\nContent-Type: text/html", step: "wait"),
        Row(
            name: "another length", action: .ask,
            answer: "204\nUpload-Offset: 600\nUpload-Length: 999", step: "restart origin-violation"),
        Row(
            name: "complete", action: .ask, change: { $0.reach = 1000 },
            answer: "204\nUpload-Offset: 1000\nUpload-Complete: ?1", step: "complete"),
        Row(
            name: "complete before it was sent", action: .ask,
            answer: "204\nUpload-Offset: 1000\nUpload-Complete: ?1",
            step: "restart origin-violation"),
        Row(
            name: "complete too early", action: .ask,
            answer: "204\nUpload-Offset: 900\nUpload-Complete: ?1",
            step: "restart origin-violation"),
        Row(
            name: "all of it, and not complete", action: .ask, change: { $0.reach = 1000 },
            answer: "204\nUpload-Offset: 1000\nUpload-Complete: ?0", step: "confirmed 1000"),
        Row(
            name: "tus has no other end", way: tus, action: .ask, change: { $0.reach = 1000 },
            answer: "200\nUpload-Offset: 1000\nUpload-Length: 1000", step: "complete"),
        Row(name: "gone", action: .ask, answer: "404", step: "restart upload-gone"),
        Row(name: "gone for good", action: .ask, answer: "410", step: "restart upload-gone"),
        Row(name: "forbidden", action: .ask, answer: "403", step: "restart upload-gone"),
        Row(name: "not to be asked", action: .ask, answer: "405", step: "refuse status-405"),
        Row(name: "unavailable", action: .ask, answer: "503", step: "wait"),

        Row(name: "the rest", action: rest, answer: "200\nUpload-Complete: ?1", step: "complete"),
        Row(name: "the rest, without a word", action: rest, answer: "204", step: "complete"),
        Row(
            name: "the rest in tus", way: tus, action: rest, answer: "204\nUpload-Offset: 1000",
            step: "complete"),
        Row(
            name: "the rest in tus, without a word", way: tus, action: rest, answer: "204",
            step: "ask"),
        Row(
            name: "not all of the rest", action: rest,
            answer: "204\nUpload-Complete: ?0\nUpload-Offset: 700", step: "confirmed 700"),
        Row(
            name: "a part", action: part, answer: "204\nUpload-Complete: ?0\nUpload-Offset: 600",
            step: "confirmed 600"),
        Row(name: "a part, without a word", action: part, answer: "204", step: "confirmed 600"),
        Row(
            name: "a part that completes", action: part, answer: "204\nUpload-Complete: ?1",
            step: "ask"),
        Row(
            name: "the offset is wrong", action: rest, answer: "409\nUpload-Offset: 500",
            step: "ask"),
        Row(name: "the request is wrong", action: rest, answer: "400", step: "ask"),
        Row(
            name: "the digest may be wrong", action: .append(400..<1000, isDigested: true),
            answer: "400", step: "askWithoutDigests"),
        Row(
            name: "the checksum is wrong", way: tus,
            action: .append(400..<1000, isDigested: true), answer: "460", step: "wait"),
        Row(
            name: "the whole's digest is wrong, when it is asked", action: .ask, answer: "422",
            step: "restart digest-mismatch"),
        Row(
            name: "the whole's digest is wrong", action: rest, answer: "422",
            step: "restart digest-mismatch"),
        Row(
            name: "too much at once", action: rest,
            answer: "413\nUpload-Limit: max-append-size=100", step: "ask"),
        Row(name: "too much", action: rest, answer: "413", step: "refuse status-413"),
        Row(name: "another type", action: rest, answer: "415", step: "refuse status-415"),
        Row(name: "locked", way: tus, action: rest, answer: "423", step: "wait"),
        Row(name: "gone meanwhile", action: rest, answer: "404", step: "restart upload-gone"),
        Row(
            name: "complete and wrong", action: rest, answer: "422\nUpload-Complete: ?1",
            step: "refuse status-422"),

        Row(
            name: "tus without OPTIONS", way: tus, action: .discover, change: bare, answer: "405",
            step: "discovered"),
        Row(
            name: "tus of less", way: tus, action: .discover, change: bare,
            answer: "204\nTus-Max-Size: 999", step: "refuse upload-too-large"),
    ]

    private static func state(_ change: (inout UploadState) -> Void) -> UploadState {
        var state = UploadState(
            UploadState.Source(
                size: 1000, modified: 1, inode: 2, sha256: [UInt8](repeating: 3, count: 32)))
        state.resource = "http://origin.test/u/1"
        state.offset = 400
        state.sentEnd = 1000
        state.reach = 900
        change(&state)
        return state
    }

    private static func options(_ way: UploadWay) -> UploadOptions {
        var options = TransferOptions()
        way.apply(to: &options)
        return options.upload
    }

    @Test(arguments: rows) func judges(_ row: Row) throws {
        let lines = row.answer.split(separator: "\n")
        let text = "HTTP/1.1 \(lines[0]) x\r\n" + lines.dropFirst().map { $0 + "\r\n" }.joined()
        let bytes = [UInt8]((text + "\r\n").utf8)
        let head = try #require(try ResponseReader.read(bytes.span)?.head)
        let options = Self.options(row.way)
        let facts = UploadFacts(
            url: Self.url, head, options.dialect, now: HTTPDate(seconds: 1_780_000_000))
        let rule = UploadRule(row.action, Self.state(row.change), options, url: Self.url)
        let told = Self.text(rule.judge(facts))
        #expect(told == row.step || told.hasPrefix(row.step + ":"), "\(told)")
    }

    private static func text(_ step: UploadStep) -> String {
        switch step {
        case .complete: "complete"
        case .begun(let reference): "begun \(reference)"
        case .confirmed(let offset): "confirmed \(offset)"
        case .discovered: "discovered"
        case .ask: "ask"
        case .askWithoutDigests: "askWithoutDigests"
        case .restart(let reason): "restart \(reason)"
        case .wait(.seconds(let seconds)?, _): "wait \(seconds)"
        case .wait: "wait"
        case .refuse(let failure): "refuse \(failure.code)"
        case .authenticate(let schemes): "authenticate \(schemes.joined(separator: " "))"
        case .redirect(let reference): "redirect \(reference)"
        }
    }

    // MARK: No answer

    private static let silences: [(UploadWay, String, Bool, String)] = [
        (put, "origin-closed", false, "wait"), (post, "origin-closed", false, "uncertain"),
        (post, "origin-closed", true, "wait"), (post, "connect-failed", false, "wait"),
        (post, "origin-certificate", false, "origin-certificate"),
        (put, "origin-certificate", false, "origin-certificate"),
        (post, "proxy-login-wanted", false, "proxy-login-wanted"),
        (post, "timed-out", false, "uncertain"),
        (UploadWay(mode: .form), "origin-reset", false, "uncertain"),
        (UploadWay(mode: .automatic, method: "POST"), "origin-reset", false, "uncertain"),
        (UploadWay(mode: .automatic), "origin-reset", false, "wait"),
    ]

    @Test(arguments: silences)
    func silence(_ way: UploadWay, _ code: String, _ isUnprocessed: Bool, _ step: String) {
        let rule = UploadRule(
            .sendWhole, Self.state(Self.bare), Self.options(way), url: Self.url)
        let failure = Failure(code, party: .origin, "a")
        let told = Self.text(rule.judge(noAnswer: failure, isUnprocessed: isUnprocessed))
        #expect(told.hasSuffix(step), "\(told)")
    }

    // MARK: The next request

    @Test func asksWhatComesNext() {
        func next(_ way: UploadWay, _ change: (inout UploadState) -> Void) -> UploadAction {
            UploadAction.next(Self.state(change), Self.options(way))
        }
        #expect(next(Self.put, Self.bare) == .sendWhole)
        #expect(next(Self.automatic, Self.bare) == .sendWhole)
        #expect(next(UploadWay(mode: .resumable), Self.bare) == .create)
        #expect(next(Self.tus, Self.bare) == .discover)
        #expect(
            next(Self.tus) { state in
                state.resource = nil
                state.isDiscovered = true
            } == .create)
        #expect(next(Self.automatic) { _ in } == .ask)
        #expect(
            next(Self.automatic) { $0.isOffsetKnown = true }
                == .append(400..<1000, isDigested: true))
        #expect(
            next(Self.automatic) { state in
                state.isOffsetKnown = true
                state.limits.greatestAppend = 100
                state.avoidsDigests = true
            } == .append(400..<500, isDigested: false))
        #expect(
            next(Self.tus) { $0.isOffsetKnown = true } == .append(400..<1000, isDigested: false))
        #expect(
            next(Self.tus) { state in
                state.isOffsetKnown = true
                state.takesChecksums = true
            } == .append(400..<1000, isDigested: true))
    }

    // MARK: Limits and coding

    @Test(arguments: [
        ("max-size=10", Int64(10) as Int64?), ("max-size=10, max-age=5", 10),
        ("other, max-size=10;a=b, x=\"y\"", 10), ("max-size", nil), ("max-size=1.5", nil),
        ("max-size=-1", nil), ("max-size=10, max-age=soon", nil), ("MAX-SIZE=10", nil),
        ("max-size=1234567890123456", nil), ("", nil), ("max-size=10,", nil),
    ])
    func limits(_ field: String, _ most: Int64?) {
        #expect(UploadLimits(Array(field.utf8)[...])?.greatest == most)
    }

    @Test func aStateIsReadAsItWasWritten() {
        var state = Self.state { state in
            state.isOut = true
            state.isDiscovered = true
            state.takesChecksums = true
            state.avoidsDigests = true
            state.limits.greatestAppend = 7
            state.limits.least = 1
            state.expiry = 9
        }
        // How far it came is known in this process alone.
        state.reach = state.sentEnd
        #expect(UploadState(state.journal.line) == state)
        #expect(UploadState(Array("{}".utf8)) == nil)
    }

    /// Options are kept, and older journals are read.
    @Test(arguments: UploadWay.all) func optionsAreKept(_ way: UploadWay) throws {
        var options = TransferOptions()
        way.apply(to: &options)
        options.upload.field = "f"
        options.upload.contentType = "a/b"
        let value = try #require(JSONObject(options.journal.line))
        #expect(TransferOptions(value) == options)
        let old = try #require(JSONObject(Array("{\"priority\":1}".utf8)))
        #expect(TransferOptions(old).upload == UploadOptions())
        #expect(!TransferOptions(old).isFromStranger && TransferOptions(old).pins.isEmpty)
        for pins in ["[\"ab\",5]", "[\"xy\"]", "1"] {
            let odd = try #require(JSONObject(Array("{\"pins\":\(pins)}".utf8)))
            #expect(TransferOptions(odd).pins == [[]])
        }
    }
}
