import Base
import Foundation
import ProcessStart
import TLS
import Testing
import Traffic

@testable import Formats
@testable import PacketFormats

@Suite(.enabled(if: Dissector.isThere, "tshark is not installed"))
struct PacketExporterTests {
    @Test("Wireshark decrypts both legs in every suite and finds what was recorded")
    func http1() throws {
        var traffic = RecordedTraffic()
        var contents: [[UInt8]] = []
        for suite in TLSSuite.all {
            let connection = traffic.addConnection(
                suite.version.text, suite.name, alpn: "http/1.1")
            for size in [40_000, 32, 3000] {
                contents.append(RecordedTraffic.content(UInt8(contents.count), size))
                traffic.addExchange(on: connection, response: contents[contents.count - 1])
            }
        }
        let file = try PacketFile(traffic)
        let expected = contents.map { Digests.sha256($0).hex }.sorted()
        for interface in ["client-leg", "server-leg", "decrypted"] {
            #expect(try file.objects(on: interface) == expected, "\(interface)")
        }
        let flaws =
            "tcp.analysis.flags or _ws.malformed or ip.checksum.status == 0 "
            + "or tcp.checksum.status == 0"
        #expect(try file.fields(flaws, ["frame.number", "_ws.col.Info"]).isEmpty)
    }

    @Test("Wireshark reads exchanges of HTTP/2 side by side")
    func http2() throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection(
            "TLSv1.3", "TLS_AES_256_GCM_SHA384", alpn: "h2")
        for stream in [1, 3, 5] as [Int32] {
            traffic.addExchange(
                on: connection, http2: stream,
                response: RecordedTraffic.content(UInt8(stream), 9000 * Int(stream)))
        }
        let file = try PacketFile(traffic)
        let expected = traffic.exchangeRecords.map { $0.responseBody.bytes.hex }.sorted()
        for interface in ["client-leg", "server-leg"] {
            let field = "http2.body.reassembled.data"
            let filter = "frame.interface_name == \"\(interface)\" and \(field)"
            let bodies = try file.fields(filter, [field])
                .flatMap { $0[0].split(separator: ",").map { $0.filter { $0 != ":" } } }
            #expect(bodies.sorted() == expected, "\(interface)")
        }
        #expect(try file.objects(on: "decrypted").count == 3)
        #expect(try file.fields("_ws.malformed or tcp.analysis.flags", ["frame.number"]).isEmpty)
    }

    @Test("Connections whose ports nobody recorded, as those of a HAR, are told apart")
    func withoutPorts() throws {
        var traffic = RecordedTraffic()
        for number in 0..<2 {
            let connection = traffic.addConnection(
                "TLSv1.3", "TLS_AES_256_GCM_SHA384", alpn: "http/1.1")
            traffic.addExchange(
                on: connection, response: RecordedTraffic.content(UInt8(number), 3000))
            var record = ConnectionRecord(
                id: connection, openedAt: traffic.connectionRecords[number].openedAt,
                client: "127.0.0.1:0", listener: "127.0.0.1:0", mode: .explicit)
            record.originHost = "origin.example"
            record.originPort = 443
            record.exchangeCount = 1
            record.outcome = .completed
            traffic.connectionRecords[number] = record
        }
        let file = try PacketFile(traffic)
        #expect(try file.fields("http.request", ["tcp.dstport"]) == [["80"], ["80"]])
        #expect(Set(try file.fields("http.request", ["tcp.srcport"])).count == 2)
        #expect(try file.fields("http.response", ["http.response.code"]).count == 2)
        #expect(try file.fields("_ws.malformed or tcp.analysis.flags", ["frame.number"]).isEmpty)
    }

    @Test("Without secrets there are heads alone, and no keys")
    func redacted() throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection("TLSv1.2", TLSSuite.all[3].name, alpn: "http/1.1")
        let content = RecordedTraffic.content(1, 5000)
        traffic.addExchange(on: connection, request: content, response: content)
        traffic.addExchange(on: connection, response: content)
        let file = try PacketFile(traffic, withSecrets: false)
        let keys = traffic.connectionRecords[0].clientTLS?.keyLog.joined() ?? ""
        let secret = try #require(keys.split(separator: " ").last)
        #expect(!file.bytes.contains([UInt8]("hush".utf8)))
        #expect(!file.bytes.contains([UInt8](secret.utf8)))
        #expect(!file.bytes.contains(content.prefix(32)))
        let requests = try file.fields("http.request", ["http.request.uri"]).map { $0[0] }
        #expect(requests == ["/file-1", "/file-2"])
        #expect(try file.fields("http.response", ["http.response.code"]).count == 2)
        #expect(file.losses.count(of: .contentLeftOut) == 2)
    }

    @Test("Bytes of other protocols, frames of a WebSocket and the way it ended are told")
    func messages() throws {
        var traffic = RecordedTraffic()
        let connection = traffic.addConnection("TLSv1.3", TLSSuite.all[2].name, alpn: "none")
        for (number, text) in ["PING one\n", "PONG one\n"].enumerated() {
            var message = MessageRecord(
                connection: connection, exchange: nil, number: Int64(number + 1),
                at: RecordedTraffic.start.later(milliseconds: 120),
                direction: number == 0 ? .request : .response, kind: .segment)
            message.bytes = [UInt8](text.utf8)
            message.size = Int64(message.bytes.count)
            traffic.messageRecords.append(message)
        }
        traffic.connectionRecords[0].messageCount = 2
        traffic.connectionRecords[0].outcome = .broken
        traffic.connectionRecords[0].closedBy = .origin
        let file = try PacketFile(traffic)
        let data = try file.fields(
            "frame.interface_name == \"client-leg\" and data.data", ["data.data"])
        #expect(data.map { $0[0] } == ["50494e47206f6e650a", "504f4e47206f6e650a"])
        #expect(try file.fields("tcp.flags.reset == 1", ["frame.interface_name"]).count == 3)
        let comments = try file.fields("frame.comment contains \"broken\"", ["frame.number"])
        #expect(comments.count == 3)
    }

    @Test("Only connections with a wanted exchange are written")
    func selection() throws {
        var traffic = RecordedTraffic()
        for _ in 0..<3 {
            let connection = traffic.addConnection(
                "TLSv1.3", TLSSuite.all[0].name, alpn: "http/1.1")
            traffic.addExchange(on: connection, response: [1, 2, 3])
        }
        let file = try PacketFile(traffic) { $0.id == 2 }
        let requests = try file.fields("http.request", ["http.request.uri"]).map { $0[0] }
        #expect(requests == ["/file-2", "/file-2", "/file-2"])
        #expect(try file.fields("tcp.flags.syn == 1", ["frame.number"]).count == 6)
    }
}

/// An export in a file of its own, as tshark reads it.
final class PacketFile {
    let path: String
    let bytes: [UInt8]
    let losses: LossReport

    init(
        _ traffic: RecordedTraffic, withSecrets: Bool = true,
        includes: ((ExchangeRecord) throws -> Bool)? = nil
    ) throws {
        var options = ExportOptions()
        options.withSecrets = withSecrets
        options.includes = includes
        var written: [UInt8] = []
        losses = try PacketExporter().export(traffic, options) { written += $0 }
        bytes = written
        path = NSTemporaryDirectory() + "packets-\(UUID().uuidString).pcapng"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        removeItem(path)
    }

    /// The values of fields in the packets that a display filter shows.
    func fields(_ filter: String, _ names: [String]) throws -> [[String]] {
        let text = try Dissector.run(
            [
                "-r", path, "-Y", filter, "-o", "ip.check_checksum:TRUE",
                "-o", "tcp.check_checksum:TRUE", "-T", "fields",
            ]
                + names.flatMap { ["-e", $0] })
        return text.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The digests of what HTTP carried on an interface, sorted.
    func objects(on interface: String) throws -> [String] {
        let folder = path + "-objects"
        let part = path + "-part"
        defer {
            removeItem(folder)
            removeItem(part)
        }
        _ = try Dissector.run(
            ["-r", path, "-Y", "frame.interface_name == \"\(interface)\"", "-w", part])
        _ = try Dissector.run(["-r", part, "-q", "--export-objects", "http,\(folder)"])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try names.map {
            Digests.sha256([UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)"))))
                .hex
        }.sorted()
    }
}

/// tshark, which is a peer that knows nothing of us.
enum Dissector {
    static let isThere = FileManager.default.isExecutableFile(atPath: path)
    private static let path = "/usr/bin/tshark"

    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-n"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return String(decoding: try ProcessStart.output(of: process), as: UTF8.self)
    }
}

private func removeItem(_ path: String) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    do {
        try FileManager.default.removeItem(atPath: path)
    } catch {
        Issue.record("cannot remove \(path): \(error)")
    }
}
