import Base
import Dispatch
import HTTPCodecs
import HTTPModel
import Synchronization
import Testing
import Traffic

@testable import Proxy

extension ProxyTests {
    /// Heads that are changed on their way.
    @Suite struct MessageEditors {
        /// In both versions on both sides: the origin and the client get what was made of the heads,
        /// with the contents that there were, and the record has both.
        @Test(arguments: RelayCase.all) func changesHeads(_ row: RelayCase) throws {
            let heard = Heard()
            let editor = TestEditor(
                request: { request in
                    request.head.fields.first(named: "x-edited") == nil
                        ? .change(Self.change("/else?q=1", [("X-Edited", "yes"), ("X-Gone", nil)]))
                        : .keep
                },
                response: { head, request in
                    #expect(request.target.text == "/else?q=1")
                    return .change(Self.change(nil, [("x-came", "changed"), ("X-New", "new")]))
                })
            try row.run(PlanChange { $0.interceptors = [editor] }) { wire, _ in
                heard.note(try wire.readHead().lowercased())
                try wire.send(
                    "HTTP/1.1 200 OK\r\nX-Came: as it was\r\nContent-Length: 5\r\n\r\nhello")
                _ = try wire.readHeadOrEnd()
            } http2: { peer, _ in
                let (stream, head) = try peer.needRequest()
                heard.note(head.text.text.lowercased())
                try peer.respond(stream, "HTTP/1.1 200 OK|X-Came: as it was", "hello")
                try peer.waitForEnd()
            } _: { proxy, client in
                let answer = try client.get(fields: "X-Gone: 1\r\n")
                #expect(answer.status == 200 && answer.body == "hello" && answer.isWhole)
                let asked = try #require(heard.lines.first)
                #expect(asked.contains("/else?q=1") && asked.contains("x-edited: yes"))
                #expect(!asked.contains("x-gone"))
                let record = try proxy.traffic.exchange()
                let came = record.responseHead.text.lowercased()
                #expect(came.contains("x-came: as it was") && !came.contains("x-new"))
                let sent = record.sentResponseHead.text.lowercased()
                #expect(sent.contains("x-came: changed") && sent.contains("x-new: new"))
                #expect(client.lastHead.lowercased().contains("x-came: changed"))
                #expect(client.lastHead.lowercased().contains("x-new: new"))
                #expect(!record.requestHead.text.contains("q=1"))
                #expect(record.sentRequestHead.text.hasPrefix("GET /else?q=1 "))
            }
        }

        /// What nobody changes is recorded once.
        @Test func leavesWhatItKeeps() throws {
            let editor = TestEditor()
            try withProxy(PlanChange { $0.interceptors = [editor] }) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                #expect(try client.get("http://\(origin.authority)/").status == 200)
                let record = try proxy.traffic.exchange()
                #expect(record.sentRequestHead.isEmpty && record.sentResponseHead.isEmpty)
                #expect(editor.askedCount == 2)
            }
        }

        /// Each sees what those before it made.
        @Test func actInTheirOrder() throws {
            func adding(_ text: String) -> TestEditor {
                TestEditor(request: { request in
                    let said = request.head.fields.first(named: "x-way")?.text ?? ""
                    return .change(Self.change(nil, [("X-Way", said + text)]))
                })
            }
            let editors = ["a", "b", "c"].map(adding)
            try withProxy(PlanChange { $0.interceptors = editors }) { proxy in
                let heard = Heard()
                let origin = try proxy.origin { wire, _ in
                    heard.note(try wire.readRequest().field("x-way") ?? "none")
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
                let client = try proxy.connect()
                #expect(try client.get("http://\(origin.authority)/").status == 200)
                #expect(heard.lines == ["abc"])
            }
        }

        /// The one exchange waits, for as long as it is told, and others pass it.
        @Test(arguments: [true, false]) func letsOneExchangeWait(_ isResponse: Bool) throws {
            let isHeld = DispatchSemaphore(value: 0)
            let goesOn = Atomic(false)
            let step = { @Sendable (path: String) -> EditStep in
                guard path == "/held", !goesOn.load(ordering: .acquiring) else { return .keep }
                isHeld.signal()
                return .wait(5)
            }
            let editor =
                isResponse
                ? TestEditor(response: { step($1.target.text) })
                : TestEditor(request: { step($0.target.text) })
            try withProxy(PlanChange { $0.interceptors = [editor] }) { proxy in
                let origin = try proxy.greeter()
                let held = try proxy.connect()
                try held.send("GET http://\(origin.authority)/held HTTP/1.1\r\nHost: x\r\n\r\n")
                for _ in 0..<3 { isHeld.wait() }
                let other = try proxy.connect()
                #expect(try other.get("http://\(origin.authority)/").status == 200)
                goesOn.store(true, ordering: .releasing)
                #expect(try held.readResponse().body.text == "hello")
                try held.finish()
                try other.finish()
            }
        }

        /// How a client leaves while its request is held.
        enum Leaving: CaseIterable { case reset, end, closeStream }

        /// Nobody waits for a client that has left, or for long for one that has ended its direction;
        /// and the origin does not get what was held.
        @Test(arguments: Leaving.allCases) func endsWithItsClient(_ leaving: Leaving) throws {
            let isHeld = DispatchSemaphore(value: 0)
            let change = PlanChange {
                $0.wiring.limits.halfCloseGrace = 100
                $0.interceptors = [
                    TestEditor(request: { _ in
                        isHeld.signal()
                        return .wait(.max)
                    })
                ]
            }
            try withProxy(change) { proxy in
                let origin = try proxy.greeter(leaving == .closeStream ? .tls : .plain)
                if leaving == .closeStream {
                    let client = try proxy.http2Client(to: origin)
                    let stream = try client.request("DELETE / HTTP/1.1")
                    isHeld.wait()
                    client.session.reset(stream, HTTP2ErrorCode.cancel)
                    try client.flush()
                    #expect(try proxy.traffic.exchange().error == "client-reset")
                    client.wire.close()
                } else {
                    let client = try proxy.connect()
                    try client.send(
                        "DELETE http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                    isHeld.wait()
                    if leaving == .reset { client.reset() } else { try client.finish() }
                    #expect(try proxy.traffic.exchange().error == "client-closed")
                    #expect(origin.acceptedCount == 0)
                }
            }
        }

        /// What is held when the proxy has to end does not go on either.
        @Test func endsWithTheProxy() throws {
            let isHeld = DispatchSemaphore(value: 0)
            let editor = TestEditor(request: { _ in
                isHeld.signal()
                return .wait(.max)
            })
            try withProxy(
                endsInOrder: false, grace: 200, PlanChange { $0.interceptors = [editor] }
            ) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                try client.send("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                isHeld.wait()
                proxy.requestShutdown()
                #expect(try proxy.traffic.exchange().error == "cut")
                #expect(origin.acceptedCount == 0)
            }
        }

        /// The client hears that its request or its response was held for too long.
        @Test(arguments: [true, false]) func doesNotWaitForEver(_ isResponse: Bool) throws {
            let editor =
                isResponse
                ? TestEditor(response: { _, _ in .wait(1) })
                : TestEditor(request: { _ in .wait(1) })
            let change = PlanChange {
                $0.interceptors = [editor]
                $0.wiring.limits.responseTimeout = 100
            }
            try withProxy(change) { proxy in
                let origin = try proxy.greeter()
                let client = try proxy.connect()
                let answer = try client.get("http://\(origin.authority)/")
                #expect(answer.status == 504)
                #expect(answer.field("sallyport-error") == "held-too-long")
                #expect(origin.acceptedCount == (isResponse ? 1 : 0))
            }
        }

        /// A head that is not sent is not recorded as sent: neither to an origin that is not there,
        /// nor to a client that gets an answer of ours.
        @Test func recordsWhatWasSentAlone() throws {
            let editor = TestEditor(
                request: { _ in .change(Self.change("/else", [])) },
                response: { _, _ in .change(Self.change(nil, [("X-New", "1")])) })
            try withProxy(PlanChange { $0.interceptors = [editor] }) { proxy in
                let closed = try ScriptedOrigin { _, _ in }
                closed.stop()
                let client = try proxy.connect()
                #expect(try client.get("http://\(closed.authority)/").status == 502)
                let record = try proxy.traffic.exchange()
                #expect(record.sentRequestHead.isEmpty && record.sentResponseHead.isEmpty)
            }
        }

        /// The proxy's own page is no traffic of a client's.
        @Test func isNotAskedForThePage() throws {
            let editor = TestEditor()
            let page = PlanChange {
                $0.wiring.page = PlainPage()
                $0.interceptors = [editor]
            }
            try withProxy(page) { proxy in
                let client = try proxy.connect()
                #expect(try client.get("http://\(ProxyWiring.ownHost)/").body.text == "own")
                #expect(editor.askedCount == 0)
            }
        }

        private static func change(
            _ target: String?, _ fields: [(String, String?)]
        ) -> HeadChange {
            let made = HeadChange(
                target: target.map { [UInt8]($0.utf8) },
                fields.map { ($0.0, $0.1.map { [UInt8]($0.utf8) }) })
            guard let made else { preconditionFailure("a change that is none") }
            return made
        }
    }
}

private struct PlainPage: OwnPage {
    func response(to request: OwnRequest) -> OwnResponse { OwnResponse(200, [], Array("own".utf8)) }
}

/// An editor that does what a test tells it to.
private final class TestEditor: MessageEditor {
    private let request: @Sendable (EditedRequest) -> EditStep
    private let response: @Sendable (ResponseHead, EditedRequest) -> EditStep
    private let count = Atomic(0)

    init(
        request: @escaping @Sendable (EditedRequest) -> EditStep = { _ in .keep },
        response: @escaping @Sendable (ResponseHead, EditedRequest) -> EditStep = { _, _ in .keep }
    ) {
        self.request = request
        self.response = response
    }

    var askedCount: Int { count.load(ordering: .relaxed) }

    func edit(_ request: EditedRequest) -> EditStep {
        count.add(1, ordering: .relaxed)
        return self.request(request)
    }

    func edit(_ response: ResponseHead, to request: EditedRequest) -> EditStep {
        count.add(1, ordering: .relaxed)
        return self.response(response, request)
    }
}
