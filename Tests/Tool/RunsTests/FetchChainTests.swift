import Base
import Findings
import Foundation
import Refresh
import Runs
import Testing
import Traffic
import Transfer
import Views

/// A fetch client and its files from end to end, with a real content server, a real proxy in between
/// and the daemon of the transfers: push, wake, conditional request, handover, sleep, completion,
/// wake, acknowledgement.
@Suite(.serialized) struct FetchChainTests {
    @Test(.timeLimit(.minutes(10))) func goesRoundAsAWhole() async throws {
        let stage = try FetchStage()
        let played = try await stage.play { device in
            let token = try await device.wait { event -> String? in
                if case .client(.socket(.registered(_, let token))) = event.kind {
                    token
                } else {
                    nil
                }
            }
            try await device.wait { event -> Bool? in
                if case .client(.socket(.listening)) = event.kind { true } else { nil }
            }
            for (push, fileCount) in [(1, 11), (2, 12)] {
                try await device.push(to: token)
                // It sleeps when the last of its files is there and it has heard of it.
                try await device.wait { _ -> Bool? in
                    let seen = Seen(device.events)
                    return seen.transferred.count == fileCount && seen.isAsleep
                        && seen.wakeCauses.count(where: { $0 == .push }) == push ? true : nil
                }
            }
        }
        let seen = Seen(played.events)
        #expect(seen.wakeCauses.filter { $0 != .transfer } == [.push, .push])
        #expect(seen.wakeCauses.contains(.transfer))
        #expect(seen.statuses == [200, 200])
        #expect(seen.handedCount == 12)
        #expect(seen.violations == 0)
        #expect(seen.discretionary == Array(repeating: true, count: 12))
        #expect(Set(seen.transferred.map(\.file)).count == 12)
        for (file, isInPlace) in seen.transferred {
            #expect(isInPlace)
            #expect(try Files.read(file).count == 250_000)
        }
        // The first request has nothing to compare with, the second one has.
        let journal = played.feedJournal.lowercased()
        #expect(journal.split(separator: "if-none-match").count == 2, "\(journal)")
        // Nothing is left that was not heard of.
        #expect(played.tasksLeft == 0)
        #expect(played.fates == ["acknowledged", "acknowledged"])
        #expect(
            played.assertions.map(\.1) == ["passed", "passed", "passed"], "\(played.assertions)")
        try Self.judge(stage.capture)
        try stage.remove()
    }

    /// Who does not stay hears the next time, once, and leaves nothing to the daemon twice.
    @Test(.timeLimit(.minutes(10))) func hearsTheNextTime() async throws {
        let stage = try FetchStage()
        let heard = try await stage.withServers { configuration, device in
            var heard: [[Int]] = []
            for store in ["a", "b", "c"] {
                var configuration = configuration
                configuration.store += store
                let before = device.events.count
                let service = try await FetchService(configuration, startingDaemon: nil) {
                    device.note($0)
                }
                #expect(try await service.refreshOnce() == .upToDate)
                let seen = Seen(Array(device.events.dropFirst(before)))
                let tasks = try await device.tasks(configuration.transfers, ending: true)
                #expect(tasks.allSatisfy { $0.state == .completed })
                heard.append([seen.discretionary.count, seen.transferred.count])
            }
            return heard
        }
        // Each poll of another store finds all items, one of which is new.
        #expect(heard == [[11, 0], [1, 11], [1, 1]])
        try stage.remove()
    }

    /// Everything is in the capture, and nothing is wrong with it.
    private static func judge(_ capture: String) throws {
        let source = try CaptureOpening.open(capture)
        var rows: [String] = []
        try source.summaries(ExchangeQuery()) { exchange in
            let row = FlowSummary(exchange, client: "", withSecrets: false)
            let path = row.url.text.split(
                separator: "/", maxSplits: 3, omittingEmptySubsequences: true)
            guard path.count > 2 else { return true }
            rows.append(
                "\(row.method.text) \(path[2].prefix { $0 != "/" && $0 != "?" }) \(row.status ?? 0)"
            )
            return true
        }
        func count(_ row: String) -> Int { rows.count { $0 == row } }
        #expect(count("GET feeds 200") == 2, "\(rows)")
        #expect(count("GET gallery 200") == 12, "\(rows)")
        #expect(count("GET assets 200") == 12, "\(rows)")
        #expect(count("POST push 201") == 1 && count("GET push 200") == 1, "\(rows)")
        let report = try CaptureInspection.report(
            on: source,
            configuration: .standard(
                profile: nil, runKey: [UInt8](repeating: 7, count: 32),
                treatsLoopbackAsRemote: true))
        let verdict = GateVerdict(report)
        let found = report.findings.map { "\($0)" }
        #expect(verdict.kind == .clean, "\(found) \(verdict.reasons.map(\.text))")
    }

    /// What the app and the device went through.
    private struct Seen {
        var wakeCauses: [WakeCause] = []
        var openWakes = 0
        var statuses: [Int] = []
        var handedCount = 0
        var violations = 0
        var discretionary: [Bool] = []
        var transferred: [(file: String, isInPlace: Bool)] = []

        var isAsleep: Bool { openWakes == 0 }

        init(_ events: [FetchEvent]) {
            for event in events { note(event.kind) }
        }

        private mutating func note(_ kind: FetchEvent.Kind) {
            switch kind {
            case .client(.decision(.wake(let wake), _)):
                wakeCauses.append(wake.cause)
                openWakes += 1
            case .client(.decision(.finished, _)): openWakes -= 1
            case .client(.decision(.violation, _)): violations += 1
            case .client(.report(let report, _)):
                statuses += report.status.map { [$0] } ?? []
                handedCount += report.handedCount
            case .handedOver(let asset, _): discretionary.append(asset.isDiscretionary)
            case .transferred(let task, let isInPlace):
                transferred.append((task.file ?? "", isInPlace))
            default: break
            }
        }
    }
}
