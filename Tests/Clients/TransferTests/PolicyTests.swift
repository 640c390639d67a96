import Base
import Testing

@testable import Transfer

struct PolicyTests {
    /// Two readings of a clock tell one wait.
    @Test(arguments: [(0, true), (900, true), (-900, true), (6000, false)])
    func oneWaitIsToldOnce(_ microseconds: Int64, _ isSame: Bool) {
        func wait(_ reason: TransferWait.Reason, _ microseconds: Int64) -> TransferWait {
            TransferWait(reason, until: Timestamp(microseconds: 1_000_000 + microseconds))
        }
        let former = wait(.retry, 0)
        let steadied = wait(.retry, microseconds).steadied(by: former)
        #expect(steadied == (isSame ? former : wait(.retry, microseconds)))
        #expect(wait(.storage, 1).steadied(by: former) == wait(.storage, 1))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var options: @Sendable (inout TransferOptions) -> Void = { _ in }
        let environment: @Sendable (inout TransferEnvironment) -> Void
        let wait: TransferWait.Reason?
        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(name: "a good time", environment: { _ in }, wait: nil),
        Row(name: "no network", environment: { $0.link = .none }, wait: .network),
        Row(name: "cellular", environment: { $0.link = .cellular }, wait: nil),
        Row(
            name: "no cellular", options: { $0.allowsCellular = false },
            environment: { $0.link = .cellular }, wait: .cellular),
        Row(
            name: "no cellular over wifi", options: { $0.allowsCellular = false },
            environment: { $0.link = .wifi }, wait: nil),
        Row(
            name: "discretionary over cellular", options: { $0.isDiscretionary = true },
            environment: { $0.link = .cellular }, wait: .discretionary),
        Row(
            name: "from a wake over cellular", options: { $0.isFromWake = true },
            environment: { $0.link = .cellular }, wait: .discretionary),
        Row(
            name: "discretionary, expensive", options: { $0.isDiscretionary = true },
            environment: { $0.isExpensive = true }, wait: .discretionary),
        Row(
            name: "discretionary, few data", options: { $0.isDiscretionary = true },
            environment: { $0.isLowData = true }, wait: .discretionary),
        Row(
            name: "discretionary on a battery", options: { $0.isDiscretionary = true },
            environment: { ($0.isCharging, $0.battery) = (false, 30) }, wait: .discretionary),
        Row(
            name: "discretionary on a full battery", options: { $0.isDiscretionary = true },
            environment: { ($0.isCharging, $0.battery) = (false, 90) }, wait: nil),
        Row(
            name: "on a battery", environment: { ($0.isCharging, $0.battery) = (false, 3) },
            wait: nil),
    ])
    func decides(_ row: Row) {
        var options = TransferOptions()
        row.options(&options)
        #expect(StartRule.wait(options, in: TransferEnvironment(row.environment)) == row.wait)
    }

    /// The longer, the more often a program had to be woken.
    @Test func launchesAreDelayed() {
        var limiter = LaunchLimiter()
        #expect(limiter.start(enqueuedAt: 5) == 5)
        limiter.noteLaunch(now: 1000)
        #expect(limiter.start(enqueuedAt: 1000) == 61_000)
        limiter.noteLaunch(now: 2000)
        #expect(limiter.start(enqueuedAt: 2000) == 122_000)
        // The delay has passed without another launch.
        #expect(limiter.start(enqueuedAt: 200_000) == 200_000)
        limiter.noteLaunch(now: 300_000)
        limiter.noteForeground()
        #expect(limiter.start(enqueuedAt: 300_001) == 300_001)
        for _ in 0..<40 { limiter.noteLaunch(now: 400_000) }
        #expect(limiter.delay == 3_600_000)
    }
}
