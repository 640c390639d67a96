import Base
import HTTPCodecs
import Synchronization
import Testing
import Traffic

@testable import Formats

struct HARRoundTripTests {
    @Test func keepsEverythingWithSecrets() async throws {
        let traffic = SampleTraffic.make()
        let (file, lost) = try export(traffic, withSecrets: true)
        #expect(lost.lines == [])
        let (copy, lostAgain) = try await read(file)
        #expect(lostAgain.lines == [])
        let (before, after) = (try traffic.description(), try copy.description())
        #expect(before.count == after.count)
        for (one, other) in zip(before, after) { #expect(one == other) }
    }

    @Test func keepsEverythingCompressed() async throws {
        let traffic = SampleTraffic.make()
        let (file, _) = try export(traffic, withSecrets: true)
        let (copy, _) = try await read(ContentEncoder.encode(file))
        #expect(try traffic.description() == copy.description())
    }

    @Test func showsNoSecretUnasked() async throws {
        let traffic = SampleTraffic.make()
        let (file, lost) = try export(traffic, withSecrets: false)
        for secret in ["pa55", "t0k3n", "c00kie", "fr3sh", "5ecre7"] {
            #expect(!file.text.contains(secret))
            #expect(!file.text.contains(Base64.encode(Array(secret.utf8)).prefix(5)))
        }
        #expect(lost.count(of: .secretsMasked) > 0)
        #expect(lost.count(of: .keysLeftOut) == 1)
        let (copy, lostAgain) = try await read(file)
        #expect(lostAgain.losses.map(\.kind.code) == ["coding-undone"])
        let page = copy.content(2, .response).text
        #expect(page.contains("\"password\":\"***\""))
        let head = try #require(try copy.exchange(2)).responseHead.text
        #expect(head == "HTTP/1.1 200 \r\nContent-Type: application/json\r\n\r\n")
        let login = try #require(try copy.exchange(1)).requestHead.text
        #expect(login.contains("Cookie: sid=***; t=***\r\n"))
    }

    @Test func exportsWhatIsWanted() async throws {
        let traffic = SampleTraffic.make()
        var options = ExportOptions()
        options.includes = { $0.id == 8 }
        let file = Collector()
        _ = try HARExporter().export(traffic, options) { file.append($0) }
        let (copy, _) = try await read(file.bytes)
        var connections: [String] = []
        try copy.connections {
            connections.append($0.originHost)
            return true
        }
        #expect(connections == ["ws.example.com"])
        #expect(try copy.exchange(1)?.status == 101)
        #expect(try copy.exchange(2) == nil)
    }

    /// What came before a cut is there, and the failure says where it was.
    @Test func keepsWhatComesBeforeACut() async throws {
        let traffic = MemoryTraffic()
        try SampleTraffic.make().exchanges { record in
            if record.id < 3 { traffic.submit([.exchange(record)]) }
            return true
        }
        let (file, _) = try export(traffic, withSecrets: true)
        for cut in stride(from: 0, to: file.count - 1, by: 17) {
            let copy = MemoryTraffic()
            let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
            var pieces = [Array(file[..<cut])]
            let failure = await #expect(throws: Failure.self) {
                try await HARImporter().read({ pieces.popLast() ?? [] }, into: writer)
            }
            #expect(failure?.code == "har-malformed")
            #expect(failure?.detail.hasSuffix("at byte \(cut)") == true)
            for id in 1..<max(1, writer.exchangeCount) { #expect(try copy.exchange(id) != nil) }
        }
    }

    private func export(
        _ traffic: MemoryTraffic, withSecrets: Bool
    ) throws -> (file: [UInt8], lost: LossReport) {
        var options = ExportOptions()
        options.withSecrets = withSecrets
        options.creatorVersion = "1"
        let file = Collector()
        let lost = try HARExporter().export(traffic, options) { file.append($0) }
        return (file.bytes, lost)
    }

    private func read(_ file: [UInt8]) async throws -> (copy: MemoryTraffic, lost: LossReport) {
        let copy = MemoryTraffic()
        let writer = ImportWriter(sink: copy, nextConnection: 1, nextExchange: 1)
        var pieces = stride(from: 0, to: file.count, by: 70_001).reversed().map {
            Array(file[$0..<min($0 + 70_001, file.count)])
        }
        try await HARImporter().read({ pieces.popLast() ?? [] }, into: writer)
        return (copy, writer.losses)
    }
}

/// Keeps what is written.
final class Collector {
    private(set) var bytes: [UInt8] = []

    func append(_ more: [UInt8]) { bytes += more }
}
