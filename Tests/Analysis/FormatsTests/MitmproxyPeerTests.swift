import Base
import Foundation
import ProcessStart
import Testing
import Traffic

@testable import Formats

/// Dumps before mitmproxy itself.
struct MitmproxyPeerTests {
    /// mitmproxy reads every flow of ours, and what it writes again is the same to our import.
    @Test(.needsMitmproxy) func readsOursAndWritesThemAgain() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        let (ours, theirs) = ("\(folder)/ours.mitm", "\(folder)/theirs.mitm")
        let traffic = SampleTraffic.make()
        var options = ExportOptions()
        options.withSecrets = true
        let file = Collector()
        _ = try MitmproxyExporter().export(traffic, options) { file.append($0) }
        try Data(file.bytes).write(to: URL(fileURLWithPath: ours))
        let told = try run(MitmproxyPeer.python, ["-c", Self.copy, ours, theirs])
        #expect(told.split(separator: "\n").map(String.init) == Self.flows)
        let shown = try run(
            MitmproxyPeer.mitmdump,
            ["-nr", ours, "--flow-detail", "4", "--set", "confdir=\(folder)/conf"])
        #expect(shown.contains("GET https://api.example.com/2") || shown.contains("/login"))
        #expect(!shown.contains("Traceback"))
        let copy = MemoryTraffic()
        let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
        var pieces = [[UInt8](try Data(contentsOf: URL(fileURLWithPath: theirs)))]
        try await MitmproxyImporter().read({ pieces.popLast() ?? [] }, into: writer)
        #expect(MitmproxyRoundTripTests.counts(writer.losses) == [])
        try MitmproxyRoundTripTests.expectSame(traffic, copy)
    }

    /// A dump that mitmproxy made of its own model, without anything of ours in it.
    @Test(.needsMitmproxy) func readsWhatItMakes() async throws {
        let folder = FileManager.default.temporaryDirectory.path
        let path = "\(folder)/\(UUID().uuidString).mitm"
        _ = try run(MitmproxyPeer.python, ["-c", Self.make, path])
        let dump = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        try FileManager.default.removeItem(atPath: path)
        #expect(MitmproxyImporter.recognizes(dump))
        let copy = MemoryTraffic()
        let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
        var pieces = [dump]
        try await MitmproxyImporter().read({ pieces.popLast() ?? [] }, into: writer)
        let flow = try #require(try copy.exchange(1))
        #expect(
            flow.requestHead.text
                == "GET /path HTTP/1.1\r\nheader: qvalue\r\ncontent-length: 7\r\n\r\n")
        #expect(flow.responseHead.text.hasPrefix("HTTP/1.1 200 OK\r\nheader-response: svalue\r\n"))
        #expect(flow.authority == "address:22")
        #expect(copy.content(1, .request).text == "content")
        #expect(copy.content(1, .response).text == "message")
        #expect(flow.startedAt.microseconds == 946_681_200_000_000)
        #expect(flow.durationMicroseconds == 3_000_000)
        #expect(try copy.exchange(2)?.error == "no-response")
        #expect(try copy.exchange(2)?.errorDetail == "error")
        #expect(try copy.exchange(3)?.status == 101)
        #expect(writer.messageCount == 6)
        #expect(
            MitmproxyRoundTripTests.counts(writer.losses) == ["flow-left-out 2", "head-rebuilt 5"])
    }

    /// The flows of the sample, as `copy` tells them.
    private static let flows = [
        "http POST https://api.example.com /login 302 28 0 None False",
        "http PUT https://api.example.com/2 200 4 57 None False",
        "http GET https://api.example.com/3?a=b%20c&access_token=t0k3n 200 0 0 None False",
        "http GET https://api.example.com/4?a=b%20c&access_token=t0k3n None 0 None"
            + " the origin closed before it answered False",
        "http GET https://api.example.com/5?a=b%20c&access_token=t0k3n None 0 None None False",
        "http GET https://api.example.com/6?a=b%20c&access_token=t0k3n 200 0 9000001 None False",
        "http GET https://api.example.com/7?a=b%20c&access_token=t0k3n 200 0 700 None False",
        "http GET https://api.example.com/chat 101 0 0 None 2",
        "http POST https://api.example.com/rpc 200 6 0 None False",
        "http CONNECT api.example.com:443 200 0 0 None False",
        "http GET http://api.example.com/late 200 0 0 None False",
        // Of a WebSocket on a stream it tells no path, as of every CONNECT.
        "http CONNECT api.example.com:443 200 0 0 None False",
        "tcp 2 None",
    ]

    /// Reads each flow, checks it, tells it, and writes it again.
    private static let copy = """
        import sys
        from mitmproxy import flow, http, tcp
        from mitmproxy.io import FlowReader, FlowWriter
        with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as copy:
            writer = FlowWriter(copy)
            for f in FlowReader(source).stream():
                assert f.get_state() == type(f).from_state(f.get_state()).get_state()
                assert f.client_conn.peername and f.client_conn.timestamp_start > 1.7e9
                assert f.client_conn.proxy_mode.full_spec == "regular"
                assert f.metadata["sallyport"]
                if isinstance(f, tcp.TCPFlow):
                    assert f.messages[1].from_client and not f.messages[0].from_client
                    print("tcp", len(f.messages), f.error)
                else:
                    r = f.response
                    if f.client_conn.sni == "api.example.com":
                        assert f.client_conn.tls_established and f.client_conn.tls_version == "TLSv1.3"
                        assert f.server_conn.peername == ("2001:db8::1", 443)
                        assert f.server_conn.alpn == b"http/1.1"
                    if r is not None and f.request.path == "/2":
                        assert r.text == '{"password":"pa55-word","text":"caf\\\\u00e9"}', r.text
                    if f.request.path.startswith("/3"):
                        assert r.trailers["X-Sum"] == "1a2b" and f.request.trailers["A"] == "b"
                    if f.request.path == "/rpc":
                        assert f.request.is_http2 and f.request.authority == "api.example.com"
                        assert "host" not in f.request.headers
                    socket = f.websocket and len(f.websocket.messages) or False
                    if socket:
                        assert f.websocket.messages[0].text.startswith("{")
                        assert f.websocket.close_code == 1001 and not f.websocket.closed_by_client
                    print("http", f.request.method, f.request.url, r and r.status_code,
                        len(f.request.raw_content), r and len(r.raw_content),
                        f.error and f.error.msg, socket)
                writer.add(f)
        """

    private static let make = """
        import sys
        from mitmproxy.io import FlowWriter
        from mitmproxy.test import tflow
        with open(sys.argv[1], "wb") as file:
            writer = FlowWriter(file)
            for f in [tflow.tflow(resp=True), tflow.tflow(err=True), tflow.twebsocketflow(),
                    tflow.ttcpflow(), tflow.tudpflow(), tflow.tdnsflow(resp=True)]:
                writer.add(f)
        """

    private func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = try ProcessStart.output(of: process)
        #expect(process.terminationStatus == 0)
        return output.text
    }
}

/// mitmproxy, which the benchmarks have too.
private enum MitmproxyPeer {
    static var folder: String {
        let project = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return ProcessInfo.processInfo.environment["SALLYPORT_TEST_MITMPROXY"]
            ?? project.appendingPathComponent(".build/bench-venv/bin").path
    }

    static var python: String { "\(folder)/python" }
    static var mitmdump: String { "\(folder)/mitmdump" }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var needsMitmproxy: Self {
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: MitmproxyPeer.mitmdump)
                || ProcessInfo.processInfo.environment["SALLYPORT_REQUIRE_PEERS"] != nil,
            "there is no mitmproxy (Scripts/install-dependencies --test)")
    }
}
