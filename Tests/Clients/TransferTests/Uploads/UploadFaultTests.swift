import Base
import HTTPClient
import TLS
import Testing

@testable import Transfer

/// The uploads that go wrong in `sallyport audit --battery upload`, and faults that a seed draws.
@Suite(.serialized) struct UploadFaultTests {
    private static let bytes = Laboratory.Bench.content(5, size: 1 << 20)
    private static let digest = Digests.sha256(bytes).hex

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let rules: String
        /// `nil` where it can succeed.
        var failures: [String]?
        var testDescription: String { name }
    }

    private static func broken(_ ending: String, _ other: String = "") -> String {
        Laboratory.rule(other + "upload-cut:400000:" + ending, "turn = first", "reaches = 400000")
    }

    private static func refused(_ status: Int) -> String {
        ["PUT", "PATCH", "POST"].map { Laboratory.rule("status:\(status)", "method = \($0)") }
            .joined()
    }

    static let rows = [
        Row(name: "sound", rules: ""),
        Row(name: "broken", rules: broken("rst")),
        Row(name: "closed", rules: broken("fin")),
        Row(
            name: "no-interim",
            rules: broken("rst", "no-interim|") + Laboratory.rule("no-interim")),
        Row(
            name: "forgotten",
            rules: Laboratory.rule("status:404", "method = HEAD", "turn = first") + broken("rst")),
        Row(
            name: "told-too-little",
            rules: Laboratory.rule("upload-offset:-1000", "method = HEAD", "turn = first")
                + broken("rst")),
        Row(
            name: "told-too-much",
            rules: Laboratory.rule("upload-offset:+1000", "method = HEAD", "turn = first")
                + broken("rst")),
        Row(
            name: "answer-lost",
            rules: Laboratory.rule("cut:head:rst", "turn = first", "reaches = \(1 << 20)")),
        Row(
            name: "unavailable", rules: refused(503), failures: ["status-503", "upload-uncertain"]),
        Row(name: "too-large", rules: refused(413), failures: ["status-413"]),
    ]

    @Test(arguments: rows, UploadWay.few)
    func isRightOrFails(_ row: Row, _ way: UploadWay) async throws {
        for http in [ClientVersions.http1, .http2] {
            var laboratory = Laboratory()
            laboratory.scenario = row.rules
            laboratory.http = http
            laboratory.disk = MemoryDisk()
            try await laboratory.run { bench in
                let task = try await bench.send(Self.bytes, way)
                let isCompleted = task.state == .completed
                let uploaded = Set(
                    isCompleted ? try await bench.digested() : try bench.uploaded())
                if let codes = row.failures {
                    #expect(codes.contains(task.failureCode ?? ""), "\(task.state)")
                    #expect(uploaded.isEmpty)
                } else if task.state == .completed {
                    #expect(uploaded == [Self.digest])
                } else {
                    // Of what must not be sent twice.
                    let isOnce = !way.isSafe || way.method == "POST" && way.mode == .automatic
                    #expect(isOnce && task.failureCode == "upload-uncertain", "\(bench.requests)")
                }
            }
        }
    }

    // MARK: Seeds

    private static let faults = [
        "upload-cut:any:rst", "upload-cut:any:fin", "upload-cut:0:rst", "no-interim",
        "no-interim|upload-cut:any:rst", "upload-offset:-1000", "upload-offset:+1000",
        "upload-offset:-100000", "upload-offset:+900000", "status:503:2", "status:429",
        "status:500",
        "delay:5ms", "cut:head:rst", "cut:0", "status:404", "status:409", "status:410",
        "upload-cut:400000:rst", "status:425",
    ]

    private static func scenario(_ seed: UInt64) -> String {
        var drawn: UInt64 = 0
        func below(_ limit: Int) -> Int {
            defer { drawn += 1 }
            return Int(SplitMix.word(seed: seed, drawn) % UInt64(limit))
        }
        // The task's own URL does not answer with 404, or the upload has failed.
        return (1...9).map { turn -> String in
            let fault = faults[below(faults.count)]
            let setting =
                switch fault {
                case "status:404", "status:410": "method = HEAD, PATCH"
                // A question for the offset names none that could be wrong.
                case "status:409": "method = PATCH"
                default: "reaches = 0"
                }
            return Laboratory.rule(fault, "turn = nth \(turn)", setting)
                .replacing("reaches = 0\n", with: "")
        }.joined()
    }

    @Test(arguments: [ClientVersions.http1, .http2])
    func isNeverCorrupt(_ http: ClientVersions) async throws {
        let bytes = Laboratory.Bench.content(5, size: 300_000)
        let digest = Digests.sha256(bytes).hex
        let ways = UploadWay.all
        var (completed, uncertain, restarts, requests) = (0, 0, 0, 0)
        for seed in UInt64(1)...120 {
            let way = ways[Int(seed) % ways.count]
            var laboratory = Laboratory()
            laboratory.scenario = Self.scenario(seed)
            laboratory.seed = seed
            laboratory.http = http
            laboratory.patience = 5000
            laboratory.disk = MemoryDisk()
            let label = "seed \(seed), \(way.testDescription)"
            let task = try await laboratory.run { bench in
                let task = try await bench.send(bytes, way)
                let isCompleted = task.state == .completed
                let uploaded =
                    isCompleted ? try await bench.digested() : try bench.uploaded()
                #expect(uploaded.allSatisfy { $0 == digest }, "\(label): corrupt")
                #expect(
                    task.state != .completed || !uploaded.isEmpty, "\(label): \(bench.requests)")
                // An upload resource that is gone may have been completed.
                let most = way.isSafe ? .max : 1 + task.restarts.count
                #expect(uploaded.count <= most, "\(label): twice")
                if task.state != .completed, task.failureCode != "upload-uncertain" {
                    Issue.record("\(label): \(task.state) \(bench.requests)")
                }
                return task
            }
            if task.state == .completed { completed += 1 } else { uncertain += 1 }
            restarts += task.restarts.count
            requests += task.requestCount
        }
        // The faults were met.
        #expect(completed > 80 && uncertain > 3, "\(completed) \(uncertain)")
        #expect(requests > 3 * completed && restarts > 5, "\(requests) \(restarts)")
    }
}
