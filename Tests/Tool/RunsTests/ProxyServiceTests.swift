import Base
import Findings
import Foundation
import Origins
import ProcessStart
import Proxy
import Runs
import TLS
import Testing
import Traffic
import Views

private let curl = "/usr/bin/curl"

/// A proxy without a terminal: started, used by a real client, stopped, and looked at.
@Suite struct ProxyServiceTests {
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: curl)))
    func servesRealClient() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-runs-\(UUID().uuidString)").path
        try Files.makeFolder(folder)
        let (options, capture) = Self.options(in: folder)
        let events = RunEvents()
        let subscription = events.subscribe()
        let service = try ProxyService(
            options, variables: ["XDG_STATE_HOME": folder], events: events)
        async let endedInOrder = service.run()
        let site = try #require(service.content)
        let urls = [
            "http://\(site.http)/assets/7/1k",
            "https://\(site.https)/assets/7/1k?access_token=kW8vQ2rT5yU1iO4pA7sD",
        ]
        let status = await Self.fetch(
            urls, through: HostPort(service.server.address),
            trusting: service.authority.certificatePath)
        #expect(status == 0)
        service.stop()
        let isInOrder = try await endedInOrder
        #expect(isInOrder)

        let source = try CaptureOpening.open(capture)
        var rows: [String] = []
        try source.summaries(ExchangeQuery()) { exchange in
            let row = FlowSummary(exchange, client: "", withSecrets: false)
            if row.method.text == "GET" { rows.append("\(row.url.text) \(row.status ?? 0)") }
            return true
        }
        #expect(
            rows.sorted() == [
                "\(urls[0]) 200", "https://\(site.https)/assets/7/1k?access_token=*** 200",
            ])
        let report = try CaptureInspection.report(
            on: source,
            configuration: .standard(
                profile: nil, runKey: [UInt8](repeating: 7, count: 32),
                treatsLoopbackAsRemote: true))
        let sarif = report.document(
            .sarif, of: ReportSubject(toolVersion: "0", capture: capture)
        ).text
        for rule in ["PLAIN-HTTP-BASIC", "URL-TOKEN"] {
            #expect(sarif.contains("\"ruleId\":\"\(rule)\""))
        }
        var ended: Set<Int64> = []
        while let batch = await subscription.next() {
            for case .traffic(.exchange(let snapshot)) in batch
            where snapshot.record.durationMicroseconds != nil {
                ended.insert(snapshot.record.id)
            }
        }
        #expect(ended.count >= rows.count)
        try FileManager.default.removeItem(atPath: folder)
    }

    /// What the options say is done from then on, by the proxy that runs.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: curl)))
    func exchangesItsPolicy() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("sallyport-runs-\(UUID().uuidString)").path
        try Files.makeFolder(folder)
        var (options, capture) = Self.options(in: folder)
        let service = try ProxyService(options, variables: ["XDG_STATE_HOME": folder])
        async let endedInOrder = service.run()
        let site = try #require(service.content)
        func status(trusting authority: String) async -> Int32 {
            await Self.fetch(
                ["https://\(site.https)/assets/7/1k"], through: HostPort(service.server.address),
                trusting: authority)
        }
        let (own, origins) = (service.authority.certificatePath, site.authority.certificatePath)
        #expect(await status(trusting: own) == 0)
        options.passed = [HostPattern("*")].compactMap(\.self)
        #expect(try service.exchange(options) == 1)
        #expect(await status(trusting: origins) == 0)
        // What cannot be read changes nothing.
        options.passed = []
        options.originAuthorities = [folder + "/no-such-file.pem"]
        let failure = #expect(throws: Failure.self) { try service.exchange(options) }
        #expect(failure?.code == "file-unreadable")
        #expect(await status(trusting: origins) == 0)
        // The content server beside it is trusted by each policy.
        options.originAuthorities = []
        #expect(try service.exchange(options) == 2)
        #expect(await status(trusting: own) == 0)
        service.stop()
        #expect(try await endedInOrder)
        var rows: [String] = []
        try CaptureOpening.open(capture).connections { connection in
            rows.append("\(connection.policyVersion) \(connection.outcome.rawValue)")
            return true
        }
        #expect(rows == ["0 completed", "1 passed-through", "1 passed-through", "2 completed"])
        try FileManager.default.removeItem(atPath: folder)
    }

    /// A proxy and a content server on ports of the system's choice.
    private static func options(in folder: String) -> (ProxyOptions, capture: String) {
        let anywhere = HostPort(host: "127.0.0.1", port: 0)
        let capture = folder + "/session.sallyport"
        var options = ProxyOptions()
        options.listen = anywhere
        options.capture = capture
        options.loopCount = 1
        var content = ContentOptions()
        content.listen = anywhere
        content.tlsListen = anywhere
        options.content = content
        return (options, capture)
    }

    /// - Returns: curl's exit status.
    private static func fetch(
        _ urls: [String], through proxy: HostPort, trusting authority: String
    ) async -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: curl)
        process.arguments =
            [
                "--disable", "--silent", "--show-error", "--fail", "--max-time", "60",
                "--noproxy", "", "--proxy", "http://\(proxy)", "--cacert", authority,
                "--user", "nora:correct-horse",
            ] + urls.flatMap { ["--output", "/dev/null", $0] }
        return await withCheckedContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try ProcessStart.alone { try process.run() }
            } catch {
                Issue.record(error)
                continuation.resume(returning: -1)
            }
        }
    }
}
