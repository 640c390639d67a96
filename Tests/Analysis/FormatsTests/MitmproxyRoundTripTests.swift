import Base
import HTTPCodecs
import Testing
import Traffic

@testable import Formats

struct MitmproxyRoundTripTests {
    @Test func keepsWhatFlowsCanHold() async throws {
        let traffic = SampleTraffic.make()
        let (file, lost) = try export(traffic, withSecrets: true)
        #expect(
            Self.counts(lost) == [
                "certificate-left-out 7", "connection-left-out 1", "content-cut 1",
                "message-left-out 2",
            ])
        let (copy, lostAgain) = try await read(file)
        #expect(Self.counts(lostAgain) == [])
        try Self.expectSame(traffic, copy)
    }

    /// Compares by what a flow can hold: every exchange, its connection, and the messages of
    /// WebSockets and streams.
    static func expectSame(_ traffic: MemoryTraffic, _ copy: MemoryTraffic) throws {
        for id in Int64(1)...12 {
            let before = try #require(try traffic.exchange(id))
            let after = try #require(try copy.exchange(id))
            #expect(plain(before, of: 0) == plain(after, of: 0))
            for direction in [Direction.request, .response] {
                #expect(traffic.content(id, direction) == copy.content(id, direction))
            }
            let one = try #require(try traffic.connection(before.connection))
            let other = try #require(try copy.connection(after.connection))
            #expect(plain(one) == plain(other))
        }
        #expect(try messages(traffic) == messages(copy))
    }

    @Test func showsNoSecretUnasked() async throws {
        let traffic = SampleTraffic.make()
        // The long one has none, and takes long to search.
        let (file, lost) = try export(traffic, withSecrets: false, without: 6)
        for secret in ["pa55", "t0k3n", "c00kie", "fr3sh", "5ecre7"] {
            #expect(!file.text.contains(secret))
        }
        #expect(lost.count(of: .secretsMasked) > 0)
        #expect(lost.count(of: .keysLeftOut) == 6)
        #expect(lost.count(of: .codingLeftOut) == 1)
        let (copy, lostAgain) = try await read(file)
        #expect(Self.counts(lostAgain) == ["coding-undone 1"])
        #expect(copy.content(2, .response).text.contains("\"password\":\"***\""))
        let head = try #require(try copy.exchange(2)).responseHead.text
        #expect(head == "HTTP/1.1 200 \r\nContent-Type: application/json\r\n\r\n")
        let login = try #require(try copy.exchange(1)).requestHead.text
        #expect(login.contains("Cookie: sid=***; t=***\r\n"))
    }

    @Test func exportsWhatIsWanted() async throws {
        var options = ExportOptions()
        options.includes = { $0.id == 8 }
        let file = Collector()
        let lost = try MitmproxyExporter().export(SampleTraffic.make(), options) {
            file.append($0)
        }
        #expect(!Self.counts(lost).contains("connection-left-out 1"))
        let (copy, _) = try await read(file.bytes)
        #expect(try copy.exchange(1)?.status == 101)
        #expect(try copy.exchange(2) == nil)
        #expect(try copy.connection(1)?.originHost == "ws.example.com")
    }

    @Test func keepsWhatComesBeforeACut() async throws {
        let traffic = MemoryTraffic()
        try SampleTraffic.make().exchanges { record in
            if record.id < 3 { traffic.submit([.exchange(record)]) }
            return true
        }
        let (file, _) = try export(traffic, withSecrets: true)
        let first = try #require(file.text.wholeLength)
        for cut in stride(from: 1, to: file.count - 1, by: 7) where cut != first {
            let copy = MemoryTraffic()
            let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
            var pieces = [Array(file[..<cut])]
            let failure = await #expect(throws: Failure.self) {
                try await MitmproxyImporter().read({ pieces.popLast() ?? [] }, into: writer)
            }
            #expect(failure?.code == "mitmproxy-malformed")
            #expect(failure?.detail.hasSuffix("at byte \(cut)") == true)
            #expect(writer.exchangeCount == (cut > first ? 1 : 0))
        }
    }

    @Test(arguments: [
        ("11:4:type;", true), ("812:9:websocket;0:~", true), ("80:7:version,", true),
        ("{\"log\":{}}", false), ("12:", false), ("", false), ("1234567890123:1:a;", false),
        ("12:4:type#", false), ("12", false), ("x:", false),
    ])
    func knowsADump(_ start: String, _ isDump: Bool) {
        #expect(MitmproxyImporter.recognizes(Array(start.utf8)) == isDump)
    }

    /// What was changed in mitmproxy stands, not what our export kept beside.
    @Test func believesWhatWasEdited() async throws {
        let traffic = MemoryTraffic()
        traffic.submit([.exchange(try #require(try SampleTraffic.make().exchange(3)))])
        var (file, _) = try export(traffic, withSecrets: true)
        let from = Array("12:Content-Type,10:text/plain,".utf8)
        let to = Array("12:Content-Kind,10:text/plain,".utf8)
        let place = try #require(
            file.indices.first { file[$0...].starts(with: from) })
        file.replaceSubrange(place..<(place + from.count), with: to)
        let (copy, lost) = try await read(file)
        #expect(Self.counts(lost) == ["head-edited 1"])
        #expect(
            try copy.exchange(1)?.responseHead.text.contains("Content-Kind: text/plain") == true)
    }

    static func counts(_ report: LossReport) -> [String] {
        report.losses.map { "\($0.kind.code) \($0.count)" }.sorted()
    }

    /// A record without the numbers that a copy may have otherwise.
    private static func plain(_ exchange: ExchangeRecord, of connection: Int64) -> String {
        var record = ExchangeRecord(
            id: exchange.id, connection: connection, startedAt: exchange.startedAt,
            scheme: exchange.scheme, authority: exchange.authority)
        record.durationMicroseconds = exchange.durationMicroseconds
        record.firstByteMicroseconds = exchange.firstByteMicroseconds
        record.requestHead = exchange.requestHead
        record.responseHead = exchange.responseHead
        record.interimHeads = exchange.interimHeads
        record.status = exchange.status
        record.protocolName = exchange.protocolName
        record.originProtocolName = exchange.originProtocolName
        record.stream = exchange.stream
        record.error = exchange.error
        record.errorDetail = exchange.errorDetail
        record.answeredByTool = exchange.answeredByTool
        record.requestBody = exchange.requestBody
        record.responseBody = exchange.responseBody
        record.requestBody.chunkCount = 0
        record.responseBody.chunkCount = 0
        return "\(record)"
    }

    private static func plain(_ connection: ConnectionRecord) -> String {
        var record = ConnectionRecord(
            id: 0, openedAt: connection.openedAt, client: connection.client,
            listener: connection.listener, mode: connection.mode)
        record.closedAt = connection.closedAt
        record.originHost = connection.originHost
        record.originPort = connection.originPort
        record.originAddress = connection.originAddress
        record.originReused = connection.originReused
        record.clientBytes = connection.clientBytes
        record.protocolName = connection.protocolName
        record.upgrade = connection.upgrade
        record.process = connection.process
        record.notes = connection.notes
        record.outcome = connection.outcome
        record.cause = connection.cause
        record.closedBy = connection.closedBy
        record.originBytes = connection.originBytes
        record.clientTLS = connection.clientTLS
        record.originTLS = connection.originTLS
        return "\(record)"
    }

    private static func messages(_ traffic: MemoryTraffic) throws -> [String] {
        var found: [String] = []
        try traffic.connections { connection in
            try traffic.messages(ofConnection: connection.id, exchange: nil) { part in
                let isClose = part.kind == .close
                if part.isInDump || part.kind == .segment {
                    let time = isClose ? 0 : part.at.microseconds
                    found.append(
                        "\(part.kind) \(part.direction) \(part.exchange ?? 0) \(time)"
                            + " \(part.size) \(part.bytes.hex) \(part.detail)")
                }
                return true
            }
            return true
        }
        return found.sorted()
    }

    private func export(
        _ traffic: MemoryTraffic, withSecrets: Bool, without: Int64? = nil
    ) throws -> (file: [UInt8], lost: LossReport) {
        var options = ExportOptions()
        options.withSecrets = withSecrets
        if let without { options.includes = { $0.id != without } }
        let file = Collector()
        let lost = try MitmproxyExporter().export(traffic, options) { file.append($0) }
        return (file.bytes, lost)
    }

    private func read(_ file: [UInt8]) async throws -> (copy: MemoryTraffic, lost: LossReport) {
        let copy = MemoryTraffic()
        let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
        var pieces = stride(from: 0, to: file.count, by: 70_001).reversed().map {
            Array(file[$0..<min($0 + 70_001, file.count)])
        }
        try await MitmproxyImporter().read({ pieces.popLast() ?? [] }, into: writer)
        return (copy, writer.losses)
    }
}

extension String {
    /// The length of the tnetstring that it begins with.
    fileprivate var wholeLength: Int? {
        let digits = prefix { $0.isNumber }
        return Int(digits).map { $0 + digits.utf8.count + 2 }
    }
}
