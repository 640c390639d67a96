import Origins
import Testing

@testable import Proxy

/// Which hosts are looked into.
struct DispositionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var passed: [String] = []
        var only: [String] = []
        var blocked: [String] = []
        /// Rejections until a client is let through; `nil` for never.
        var healsAfter: Int?
        var distrust = 0
        var host = "api.example.com"
        let expected: Kind
    }

    enum Kind { case intercept, pass, block }

    static let rows: [Row] = [
        Row(testDescription: "no rules", expected: .intercept),
        Row(testDescription: "passed", passed: ["api.example.com"], expected: .pass),
        Row(testDescription: "passed below", passed: ["*.example.com"], expected: .pass),
        Row(
            testDescription: "passed in another case", passed: ["api.example.com"],
            host: "API.example.com.", expected: .pass),
        Row(testDescription: "another passed", passed: ["example.com"], expected: .intercept),
        Row(
            testDescription: "the second passed", passed: ["a.test", "api.example.com"],
            expected: .pass),
        Row(testDescription: "among the only ones", only: ["*.example.com"], expected: .intercept),
        Row(testDescription: "not among the only ones", only: ["a.test"], expected: .pass),
        Row(
            testDescription: "passed before the only ones", passed: ["api.example.com"],
            only: ["*.example.com"], expected: .pass),
        Row(testDescription: "blocked", blocked: ["api.example.com"], expected: .block),
        Row(testDescription: "all blocked", blocked: ["*"], expected: .block),
        Row(
            testDescription: "blocked before passed", passed: ["*"], blocked: ["*.example.com"],
            expected: .block),
        Row(
            testDescription: "blocked before the only ones", only: ["*"], blocked: ["*.com"],
            expected: .block),
        Row(
            testDescription: "blocked by its name with the root's dot",
            blocked: ["api.example.com"], host: "api.example.com.", expected: .block),
        Row(
            testDescription: "distrusted too rarely", healsAfter: 3, distrust: 2,
            expected: .intercept),
        Row(testDescription: "distrusted", healsAfter: 3, distrust: 3, expected: .pass),
        Row(testDescription: "distrusted often", healsAfter: 3, distrust: 40, expected: .pass),
        Row(testDescription: "distrusted, and never healed", distrust: 40, expected: .intercept),
        Row(
            testDescription: "blocked and distrusted", blocked: ["*"], healsAfter: 1, distrust: 1,
            expected: .block),
    ]

    @Test(arguments: rows)
    func judges(_ row: Row) throws {
        var rules = DispositionRules()
        rules.passed = try row.passed.map { try #require(HostPattern($0)) }
        rules.intercepted = try row.only.map { try #require(HostPattern($0)) }
        rules.blocked = try row.blocked.map { try #require(HostPattern($0)) }
        if let count = row.healsAfter {
            rules.healing = HealingPlan()
            rules.healing?.rejections = count
        }
        switch rules.judge(row.host, distrust: row.distrust) {
        case .intercept: #expect(row.expected == .intercept)
        case .pass(let reason):
            #expect(row.expected == .pass && row.healsAfter == nil)
            #expect(!reason.isEmpty)
        case .release(let reason):
            #expect(row.expected == .pass && row.healsAfter != nil)
            #expect(!reason.isEmpty)
        case .block(let reason):
            #expect(row.expected == .block)
            #expect(rules.blockReason(row.host) == reason)
        }
        if row.expected != .block { #expect(rules.blockReason(row.host) == nil) }
    }

    // MARK: Who distrusts us

    private var plan: HealingPlan {
        var plan = HealingPlan()
        plan.rejections = 2
        plan.duration = 1_000
        plan.retryEvery = 3
        return plan
    }

    @Test func countsPerClientAndHost() {
        let store = DistrustStore()
        store.note("a", "x.test", now: 0)
        store.note("a", "y.test", now: 0)
        store.note("b", "x.test", now: 0)
        store.note("a", "x.test", now: 1)
        #expect(store.count("a", "x.test", plan: plan, now: 2) == 2)
        #expect(store.count("a", "y.test", plan: plan, now: 2) == 1)
        #expect(store.count("b", "x.test", plan: plan, now: 2) == 1)
        #expect(store.count("b", "y.test", plan: plan, now: 2) == 0)
    }

    @Test func triesNowAndThen() {
        let store = DistrustStore()
        for _ in 0..<2 { store.note("a", "x.test", now: 0) }
        let counts = (0..<7).map { _ in store.count("a", "x.test", plan: plan, now: 1) }
        #expect(counts == [2, 2, 0, 2, 2, 0, 2])
        // Another rejection by the one that was tried adds to what is known.
        store.note("a", "x.test", now: 2)
        #expect(store.count("a", "x.test", plan: plan, now: 3) == 3)
    }

    @Test func triesEveryTimeIfToldTo() {
        let store = DistrustStore()
        var plan = plan
        plan.retryEvery = 1
        for _ in 0..<5 { store.note("a", "x.test", now: 0) }
        for _ in 0..<3 { #expect(store.count("a", "x.test", plan: plan, now: 1) == 0) }
    }

    @Test func forgetsInTime() {
        let store = DistrustStore()
        for _ in 0..<2 { store.note("a", "x.test", now: 100) }
        #expect(store.count("a", "x.test", plan: plan, now: 1_099) == 2)
        #expect(store.count("a", "x.test", plan: plan, now: 1_100) == 0)
        // Forgotten altogether, and not only for as long as nobody asks.
        store.note("a", "x.test", now: 1_101)
        #expect(store.count("a", "x.test", plan: plan, now: 1_102) == 1)
    }

    @Test func forgetsWhoTrustsUs() {
        let store = DistrustStore()
        for _ in 0..<2 { store.note("a", "x.test", now: 0) }
        store.noteTrust("a", "other.test")
        #expect(store.count("a", "x.test", plan: plan, now: 1) == 2)
        store.noteTrust("a", "x.test")
        #expect(store.count("a", "x.test", plan: plan, now: 1) == 0)
    }

    @Test func isBounded() {
        let store = DistrustStore()
        for host in 0..<10_000 { store.note("a", "\(host).test", now: 0) }
        store.note("a", "last.test", now: 0)
        #expect(store.count("a", "last.test", plan: plan, now: 1) == 1)
    }
}
