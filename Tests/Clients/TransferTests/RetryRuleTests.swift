import Base
import Testing

@testable import Transfer

struct RetryRuleTests {
    @Test func jitterIsFullAndBounded() {
        let rule = RetryRule(seed: 7, isDiscretionary: false)
        let again = RetryRule(seed: 7, isDiscretionary: false)
        let slow = RetryRule(seed: 7, isDiscretionary: true)
        var longest: Int64 = 0
        for failures in 1...64 {
            let wait = rule.wait(failures: failures, asked: nil, now: 0)
            #expect(wait == again.wait(failures: failures, asked: nil, now: 0))
            #expect((0...min(60_000, 1000 << Int64(min(failures - 1, 20)))).contains(wait))
            longest = max(longest, slow.wait(failures: failures, asked: nil, now: 0))
        }
        #expect(longest > 60_000 && longest <= 1_800_000)
        let seeds = Set(
            (0..<20).map {
                RetryRule(seed: $0, isDiscretionary: false).wait(failures: 5, asked: nil, now: 0)
            })
        #expect(seeds.count > 15)
    }

    @Test func heedsRetryAfterWithinBounds() {
        let rule = RetryRule(seed: 1, isDiscretionary: false)
        func wait(_ asked: RetryAfter) -> Int64 { rule.wait(failures: 1, asked: asked, now: 1000) }
        #expect((5000...5100).contains(wait(.seconds(5))))
        #expect((7000...7100).contains(wait(.date(1007))))
        #expect((0...100).contains(wait(.date(500))))
        #expect((0...100).contains(wait(.date(.min))))
        #expect((3_600_000...3_600_100).contains(wait(.seconds(.max))))
        #expect((3_600_000...3_600_100).contains(wait(.date(1 << 50))))
    }

    @Test(arguments: [
        ("connect-failed", true), ("origin-reset", true), ("timed-out", true),
        ("origin-truncated", true), ("origin-certificate", false), ("pin-mismatch", false),
        ("client-certificate-required", false), ("status-404", false), ("no-space", false),
        ("request-malformed", false), ("redirect-downgrade", false),
    ])
    func triesAgainWhatMayNotFailAgain(_ code: String, mayRetry: Bool) {
        #expect(RetryRule.mayRetry(Failure(code, party: .origin, "")) == mayRetry)
        let lasting = Failure(code, party: .origin, "", isLasting: true)
        #expect(!RetryRule.mayRetry(lasting))
        // Somebody else may have answered in the place of an origin that was met before.
        #expect(RetryRule.mayRetry(lasting, hasCome: true) == mayRetry)
    }

    @Test func aHostIsAskedSoOften() {
        var budget = RetryBudget(capacity: 3, interval: 1000)
        let waits = (0..<4).map { _ in budget.take("a", now: 0) }
        #expect(waits == [0, 0, 0, 1000])
        #expect(budget.take("b", now: 0) == 0)
        #expect(budget.take("a", now: 1500) == 0)
        #expect(budget.take("a", now: 1500) == 500)
        // It does not fill beyond its bound.
        let later = (0..<4).map { _ in budget.take("a", now: 100_000) }
        #expect(later.prefix(3) == [0, 0, 0] && later[3] > 0)
    }
}
