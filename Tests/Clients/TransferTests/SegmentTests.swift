import Base
import HTTPClient
import TLS
import Testing

@testable import Transfer

/// Parts of one download that come at once.
@Suite(.serialized) struct SegmentTests {
    private static let path = "/assets/7/4m"

    /// Parts as small as tests can wait for.
    private static var limits: TransferLimits {
        var limits = TransferLimits()
        limits.segmentTime = 0
        limits.segmentSize = 64 << 10
        limits.segmentRate = .max
        limits.segmentGain = -100
        limits.batchSize = 64 << 10
        return limits
    }

    private static func laboratory(_ scenario: String, _ http: ClientVersions) -> Laboratory {
        var laboratory = Laboratory()
        laboratory.scenario = scenario
        laboratory.http = http
        laboratory.limits = limits
        laboratory.heedsWishes = false
        return laboratory
    }

    struct Row: Sendable {
        let name: String
        /// What goes wrong for requests from the second one on.
        var fault = ""
        /// Whether parts came beside the first request.
        var isSplit = true
    }

    static let rows: [Row] = [
        Row(name: "a sound origin"),
        Row(name: "ranges are ignored", fault: "range-ignored", isSplit: false),
        Row(name: "parts of another place", fault: "range-shift:+16", isSplit: false),
        Row(name: "parts that are labelled wrongly", fault: "range-lie:+8"),
        Row(name: "parts that are too short", fault: "range-short:1000", isSplit: false),
        Row(name: "another version", fault: "version:2", isSplit: false),
        Row(name: "a page in their place", fault: "range-page:206", isSplit: false),
        Row(name: "no more requests", fault: "status:429", isSplit: false),
        Row(name: "parts that break off", fault: "cut:100000"),
        Row(name: "no more connections", fault: "cut:head", isSplit: false),
    ]

    @Test(arguments: rows, [ClientVersions.http1, .http2])
    func isOneVersion(_ row: Row, _ http: ClientVersions) async throws {
        var scenario = ""
        if !row.fault.isEmpty {
            scenario =
                "[rule]\nname = parts\npath = /assets/*\nturn = nth 2\nfault = \(row.fault)\n"
        }
        let (task, bytes, parts) = try await Self.laboratory(scenario, http).run { bench in
            let task = try await bench.fetch(Self.path)
            return (task, task.state == .completed ? try bench.bytes() : [], bench.partCount)
        }
        #expect(task.state == .completed)
        let expected = try await held(Self.path)
        #expect(bytes == expected)
        #expect(parts > 0)
        if row.fault.isEmpty { #expect(task.restarts.isEmpty && parts > 2) }
    }

    /// A whole under the same tag, whose bytes are others from an offset on, comes when parts behind it
    /// are there and breaks off among them: they do not count any more.
    @Test(arguments: [false, true])
    func doesNotCountWhatAWholeWritesOver(isExpected: Bool) async throws {
        var scenario = "[rule]\nname = cut\npath = /assets/*\nturn = nth 1\nfault = cut:1500000\n"
        for turn in 3...6 {
            scenario += "[rule]\nname = \(turn)\npath = /assets/*\nturn = nth \(turn)\n"
            scenario += "fault = range-ignored\nfault = splice:3000000:2\nfault = cut:3300000\n"
        }
        let expected = try await held(Self.path)
        let (task, bytes) = try await Self.laboratory(scenario, .http1).run { bench in
            let task = try await bench.fetch(Self.path) { options in
                guard isExpected else { return }
                options.expected = ExpectedDigest(.sha256, Digests.sha256(expected))
            }
            return (task, task.state == .completed ? try bench.bytes() : [])
        }
        #expect(task.state == .completed)
        #expect(bytes == expected)
        #expect(task.digest == Digests.sha256(expected))
    }

    /// Under 100 seeds of faults for any request the file is the one that the origin has.
    @Test(arguments: [ClientVersions.http1, .http2])
    func isNeverCorrupt(_ http: ClientVersions) async throws {
        let faults = [
            "cut:any:rst", "cut:any:fin", "cut:head", "status:503", "range-ignored", "range-star",
            "range-short:1000", "range-shift:-16", "range-shift:+16", "range-lie:+8",
            "range-lie:-8", "range-long:500", "range-unlabelled", "range-total:+7", "416",
            "range-page:206", "version:2", "range-ignored|splice:3000000:2|cut:3300000",
        ]
        var contents = [try await held(Self.path)]
        for fault in ["version:2", "splice:3000000:2"] {
            contents.append(try await held(Self.path, fault))
        }
        var partCount = 0
        for seed in UInt64(1)...100 {
            var scenario = ""
            for turn in 2...8 {
                let drawn = SplitMix.word(seed: seed, UInt64(turn))
                let fault = faults[Int(drawn % UInt64(faults.count))]
                scenario += "[rule]\nname = \(turn)\npath = /assets/*\nturn = nth \(turn)\n"
                for verb in fault.split(separator: "|") { scenario += "fault = \(verb)\n" }
            }
            var laboratory = Self.laboratory(scenario, http)
            laboratory.seed = seed
            let (task, bytes, parts) = try await laboratory.run { bench in
                let task = try await bench.fetch(Self.path)
                return (task, task.state == .completed ? try bench.bytes() : [], bench.partCount)
            }
            partCount += parts
            if task.state != .completed || !contents.contains(bytes) {
                Issue.record("seed \(seed): \(task.state), \(bytes.count) bytes, \(task.restarts)")
            }
        }
        #expect(partCount > 100, "\(partCount)")
    }

    @Test func opensNoMoreThanIsWorthIt() {
        var limits = TransferLimits()
        limits.segmentTime = 1000
        var rule = SegmentRule(limits)
        var received: Int64 = 0
        var opened: [Bool] = []
        var count = 1
        // A mebibyte a second more for the second and the third request, and nothing for the fourth.
        for second in Int64(0)...8 {
            let mayOpen = rule.mayOpen(count: count, received: received, now: second * 1000)
            opened.append(mayOpen)
            if mayOpen { count += 1 }
            received += Int64(min(count, 3)) << 20
        }
        #expect(opened == [false, true, true, true, false, false, false, false, false])
    }

    @Test func leavesAFastLineAlone() {
        var rule = SegmentRule(TransferLimits())
        let opened = [(0, 0), (64, 2), (128, 3), (150, 4), (152, 6)].map { megabytes, second in
            rule.mayOpen(count: 1, received: Int64(megabytes) << 20, now: Int64(second) * 1000)
        }
        #expect(opened == [false, false, false, false, true])
    }
}
