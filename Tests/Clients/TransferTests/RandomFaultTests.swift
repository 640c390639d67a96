import Base
import HTTPClient
import Testing

@testable import Transfer

/// Downloads under faults that a seed draws: whatever happens, a file that is told to be complete is
/// one version, whole.
@Suite(.serialized) struct RandomFaultTests {
    private static let path = "/assets/7/256k"

    /// What may go wrong for any request.
    private static let any = [
        "cut:any:rst", "cut:any:fin", "cut:head", "cut:0", "no-last-chunk|cut:any",
        "status:503:2", "status:429", "delay:5ms", "length:+100", "redirect:2",
    ]
    /// For requests of a part.
    private static let parts = [
        "range-ignored", "range-star", "range-short:1000", "range-shift:-16", "range-shift:+16",
        "range-lie:+8", "range-lie:-8", "range-long:500", "range-unlabelled", "range-total:+7",
        "416",
        "416:1000", "range-gzip", "range-page:200", "range-page:206",
    ]
    private static let http2 = [
        "rst-stream:any", "rst-stream:any:0", "goaway:any", "goaway:0:0:unprocessed",
    ]
    private static let versions = [
        "version:2", "version:2:etag", "version:2:date", "version:2:weak", "version:2:bigger",
        "version:2:smaller",
    ]

    private struct Plan {
        var scenario = ""
        var versions = [""]
        var patience: UInt64 = 1000
    }

    private static func plan(_ seed: UInt64, _ http: ClientVersions) -> Plan {
        var drawn: UInt64 = 0
        func below(_ limit: Int) -> Int {
            defer { drawn += 1 }
            return Int(SplitMix.word(seed: seed, drawn) % UInt64(limit))
        }
        var plan = Plan()
        func add(_ settings: String, _ faults: String) {
            let number = plan.scenario.split(separator: "[").count
            plan.scenario +=
                "[rule]\nname = \(number)\npath = /assets/*\n\(settings)"
                + faults.split(separator: "|").map { "fault = \($0)\n" }.joined()
        }
        // Faults come with what the server holds by then.
        let version = below(3) == 0 ? "" : versions[below(versions.count)]
        let flip = 2 + below(4)
        for turn in 1...9 {
            let held = turn >= flip && !version.isEmpty ? "|" + version : ""
            var fault: String
            switch below(12) {
            case 0...6: fault = any[below(any.count)]
            case 7 where below(4) == 0:
                fault = "stall:any"
                plan.patience = 150
            case 7...8 where http == .http2: fault = http2[below(http2.count)]
            default: fault = parts[below(parts.count)]
            }
            // A body that only the end of the connection ends.
            if below(10) == 0 { fault = "until-close|cut:any" }
            add("turn = nth \(turn)\n", fault + held)
        }
        if !version.isEmpty {
            add("turn = from 10\n", version)
            plan.versions.append(version)
        }
        return plan
    }

    /// With more patience, where a busy machine has used it up.
    private static func fetch(_ laboratory: Laboratory) async throws -> (TransferTask, [UInt8]) {
        var laboratory = laboratory
        while true {
            // Another disk each time.
            laboratory.disk = MemoryDisk()
            let (task, bytes) = try await laboratory.run { bench in
                let task = try await bench.fetch(path)
                return (task, task.state == .completed ? try bench.bytes() : [])
            }
            guard task.failure?.code == "timed-out", laboratory.patience < 30_000 else {
                return (task, bytes)
            }
            laboratory.patience *= 8
        }
    }

    @Test(arguments: [ClientVersions.http1, .http2])
    func isNeverCorrupt(_ http: ClientVersions) async throws {
        var contents: [String: [UInt8]] = [:]
        for version in [""] + Self.versions {
            contents[version] = try await held(Self.path, version)
        }
        var (completed, restarts, requests) = (0, 0, 0)
        for seed in UInt64(1)...250 {
            let plan = Self.plan(seed, http)
            var laboratory = Laboratory()
            laboratory.scenario = plan.scenario
            laboratory.seed = seed
            laboratory.http = http
            laboratory.patience = plan.patience
            laboratory.heedsWishes = seed % 2 == 0
            laboratory.limits.batchSize = 16 << 10
            let (task, bytes) = try await Self.fetch(laboratory)
            guard task.state == .completed else {
                Issue.record("seed \(seed): \(task.state) \(task.restarts)")
                continue
            }
            completed += 1
            restarts += task.restarts.count
            requests += task.requestCount
            if !plan.versions.contains(where: { contents[$0] == bytes }) {
                Issue.record("seed \(seed): corrupt, \(bytes.count) bytes, \(task.restarts)")
            }
        }
        // The faults were met.
        #expect(completed == 250)
        #expect(requests > 3 * completed && restarts > 20, "\(requests) \(restarts)")
    }
}
