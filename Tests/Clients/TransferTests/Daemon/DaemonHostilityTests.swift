import Base
import Sockets
import Testing

@testable import Transfer

/// Clients that say what nobody should: each is put off, and the others are served meanwhile.
@Suite(.serialized) struct DaemonHostilityTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        /// What it is told before the connection ends; `nil` for nothing.
        let code: String?
        /// Whether it ends its direction behind that.
        var ends = false

        init(_ name: String, _ text: String, _ code: String?, ends: Bool = false) {
            self.init(name, [UInt8](text.utf8), code, ends: ends)
        }

        init(_ name: String, _ bytes: [UInt8], _ code: String?, ends: Bool = false) {
            self.name = name
            self.bytes = bytes
            self.code = code
            self.ends = ends
        }

        var testDescription: String { name }
    }

    private static func request(_ rest: String) -> String {
        "{\"schema\":\"sallyport.transfer-control/1\",\(rest)}\n"
    }

    /// What is asked for and cannot be read: left out, the transfer would be another one.
    private static let unreadable = [
        "\"expected\":\"00\"",
        "\"expected\":{\"algorithm\":\"SHA-256\",\"bytes\":\"00\"}",
        "\"storage\":\"secret\"", "\"byteLimit\":\"1 KiB\"", "\"cellular\":\"no\"",
        "\"fields\":[{\"name\":\"a\"}]", "\"authorities\":[]", "\"credential\":1",
        "\"upload\":{\"mode\":\"ftp\"}", "\"upload\":[]", "\"upload\":{\"version\":3}",
        "\"upload\":{\"method\":5}", "\"priority\":\"high\"", "\"stranger\":\"no\"",
        "\"byteLimit\":-5",
    ].map { option in
        Row(
            option,
            request(
                "\"request\":\"get\",\"plan\":{\"session\":\"s\",\"kind\":\"download\","
                    + "\"url\":\"http://a/\",\"options\":{\(option)}}"), "request-malformed")
    }

    static let rows =
        unreadable + [
            Row("nothing", "", nil),
            Row("nothing, and the end", "", nil, ends: true),
            Row("half a line", "{\"sch", nil),
            Row("half a line, and the end", "{\"sch", nil, ends: true),
            Row("no JSON", "GET / HTTP/1.1\r\n\r\n", "request-malformed"),
            Row("an empty line", "\n", "request-malformed"),
            Row("no object", "[]\n", "request-malformed"),
            Row("no UTF-8", [0xFF, 0xFE, 0x0A], "request-malformed"),
            Row("NUL bytes", [0, 0, 0, 0x0A], "request-malformed"),
            Row("deep nesting", String(repeating: "[", count: 60_000) + "\n", "request-malformed"),
            Row("endless line", String(repeating: "a", count: 100_000), "line-too-long"),
            Row("long line", String(repeating: "a", count: 65_537) + "\n", "line-too-long"),
            Row("no schema", "{\"request\":\"list\"}\n", "schema-unknown"),
            Row("another schema", "{\"schema\":\"sallyport.flow/1\"}\n", "schema-unknown"),
            Row("no request", request("\"a\":1"), "request-unknown"),
            Row("unknown request", request("\"request\":\"format-disk\""), "request-unknown"),
            Row("no id", request("\"request\":\"show\""), "request-malformed"),
            Row(
                "an id that is a number", request("\"request\":\"show\",\"id\":1"),
                "request-malformed"),
            Row(
                "an id with control characters",
                request("\"request\":\"show\",\"id\":\"a\\u001bb\""), "request-malformed"),
            Row(
                "a long id",
                request("\"request\":\"show\",\"id\":\"\(String(repeating: "a", count: 300))\""),
                "request-malformed"),
            Row("no plan", request("\"request\":\"get\""), "request-malformed"),
            Row(
                "options that are none",
                request(
                    "\"request\":\"get\",\"plan\":{\"session\":\"s\",\"kind\":\"download\","
                        + "\"url\":\"http://a/\",\"options\":\"{}\"}"), "request-malformed"),
            Row(
                "a relative file",
                request(
                    "\"request\":\"get\",\"plan\":{\"session\":\"s\",\"kind\":\"download\","
                        + "\"url\":\"http://a/\",\"file\":\"../a\"}"), "request-malformed"),
            Row(
                "a file with NUL",
                request(
                    "\"request\":\"get\",\"plan\":{\"session\":\"s\",\"kind\":\"download\","
                        + "\"url\":\"http://a/\",\"file\":\"/a\\u0000b\"}"), "request-malformed"),
            Row(
                "an upload as a download",
                request(
                    "\"request\":\"get\",\"plan\":{\"session\":\"s\",\"kind\":\"upload\","
                        + "\"url\":\"http://a/\",\"file\":\"/a\"}"), "request-malformed"),
        ]

    @Test(arguments: rows)
    func putsOff(_ row: Row) async throws {
        var limits = DaemonLimits.patient
        limits.silence = 100
        try await Laboratory().serve(limits) { bench in
            let hostile = DaemonStream(try bench.channel())
            hostile.push(row.bytes)
            if row.ends { hostile.channel.shutdownWriting() }
            let client = try await bench.connect()
            #expect(try await client.tasks(.list(session: nil)).isEmpty)
            let replies = await hostile.replies()
            #expect(
                replies.first == .ready(processID: 4711))
            let codes = replies.dropFirst().map { reply in
                if case .failed(let failure) = reply { failure.code } else { "\(reply)" }
            }
            #expect(codes == (row.code.map { [$0] } ?? []))
        }
    }

    @Test func aFloodThatIsNotReadEnds() async throws {
        var limits = DaemonLimits.patient
        limits.patience = 100
        try await Laboratory().serve(limits) { bench in
            let flood = DaemonStream(try bench.channel())
            let line = DaemonRequest.list(session: nil).line + [0x0A]
            let lines = Array(repeatElement(line, count: 900).joined())
            // Its answers fill what the kernel holds, which nobody empties.
            for _ in 0..<100 {
                flood.push(lines)
                let client = try await bench.connect()
                #expect(try await client.tasks(.list(session: nil)).isEmpty)
                client.close()
                if flood.channel.isBroken { break }
                await bench.loop.sleep(milliseconds: 10)
            }
            #expect(flood.channel.isBroken)
        }
    }

    @Test func tooManyAreRefused() async throws {
        var limits = DaemonLimits.patient
        limits.clientLimit = 2
        try await Laboratory().serve(limits) { bench in
            let first = try await bench.connect()
            let second = try await bench.connect()
            await #expect(throws: Failure.self) { try await bench.connect() }
            first.close()
            while !(try await isServed(bench)) {}
            #expect(try await second.tasks(.list(session: nil)).isEmpty)
        }
    }

    /// Whether there is room for a client, which goes again.
    private func isServed(_ bench: DaemonBench) async throws -> Bool {
        do throws(Failure) {
            let channel: Channel
            do { channel = try bench.channel() } catch { return false }
            guard let client = try await DaemonConnection.take(channel, until: .max) else {
                return false
            }
            client.close()
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: [ownUser &+ 1, nil])
    func anotherUserIsRefused(_ user: UInt32?) async throws {
        try await Laboratory().serve(peer: user) { bench in
            let stream = DaemonStream(try bench.channel())
            stream.push(DaemonRequest.add(bench.plan("/assets/7/1k")).line + [0x0A])
            let replies = await stream.replies()
            guard case .failed(let failure) = replies.first else {
                Issue.record("\(replies)")
                return
            }
            #expect(failure.code == "not-allowed")
            #expect(replies.count == 1)
            #expect(bench.bench.service.tasks().isEmpty)
        }
    }

    /// A request behind a followed task ends the following, and is answered.
    @Test func whoSpeaksEndsWhatItFollows() async throws {
        var laboratory = Laboratory()
        laboratory.scenario = "[rule]\nname = slow\npath = /assets/*\nfault = stall:400000\n"
        try await laboratory.serve { bench in
            let stream = DaemonStream(try bench.channel())
            let task = try bench.bench.service.enqueue(bench.plan("/assets/7/1m"))
            let requests: [DaemonRequest] = [.follow(task.identifier), .watch(session: "s"), .stop]
            stream.push(requests.flatMap { $0.line + [0x0A] })
            let replies = await stream.replies()
            #expect(replies.count { $0 == .done } == 3)
        }
    }
}
