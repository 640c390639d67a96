import Base

@testable import Refresh

/// Plays inputs against a scheduler and tells what it wants done, in few words. Times are in seconds
/// since a Monday's midnight.
struct SchedulerScript {
    enum Step {
        case event(DeviceEvent)
        case push(TracePush.Kind, String)
        case complete(UInt64, RefreshResult)
        case report(UInt64, WakeReport)
        case transfers(String)
        case returned(String)
        case pass
    }

    static let midnight: Int64 = 1_772_409_600_000
    var scheduler: RefreshScheduler

    init(_ apps: [RefreshApp], _ policy: RefreshPolicy = RefreshPolicy()) {
        scheduler = RefreshScheduler(apps, policy, seed: 1, at: Self.midnight)
    }

    mutating func play(_ steps: [(Int64, Step)]) -> [String] {
        var told: [String] = []
        for (at, step) in steps {
            let now = Self.midnight + at * 1000
            let decisions =
                switch step {
                case .event(let event): scheduler.take(event, at: now)
                case .push(let kind, let app): scheduler.push(kind, to: app, at: now)
                case .complete(let number, let result):
                    scheduler.complete(
                        WakeToken(number: number), WakeReport(result), at: now)
                case .report(let number, let report):
                    scheduler.complete(WakeToken(number: number), report, at: now)
                case .transfers(let app): scheduler.endTransfers(of: app, at: now)
                case .returned(let app): scheduler.returnPush(of: app, at: now)
                case .pass: scheduler.advance(to: now)
                }
            told += decisions.map(Self.words)
        }
        return told
    }

    static func words(_ decision: RefreshDecision) -> String {
        switch decision {
        case .window(let cause, _): "window \(cause)"
        case .wake(let wake):
            "wake \(wake.token.number) \(wake.app) \(wake.mode) \(wake.cause)"
                + (wake.isCoalesced ? " coalesced" : "") + (wake.usesSideBuffer ? " aside" : "")
        case .finished(let token, let app, let result, _):
            "finished \(token.number) \(app) \(result)"
        case .snapshot(let app): "snapshot \(app)"
        case .violation(let violation, let token, let app):
            "violation \(violation) \(token.number) \(app)"
        case .terminated(let app): "terminated \(app)"
        case .held(let app, let reason): "held \(app) \(reason)"
        case .deferred(let app, let reason): "deferred \(app) \(reason)"
        case .dropped(let app, let reason): "dropped \(app) \(reason)"
        case .banner(let app): "banner \(app)"
        case .delivered(let app): "delivered \(app)"
        case .transfersEnded(let app): "transfers-ended \(app)"
        case .merge(let app, let count): "merge \(app) \(count)"
        case .foreground(let app): "foreground \(app)"
        case .ask(let app): "ask \(app)"
        }
    }
}

extension RefreshApp {
    static func test(
        _ name: String, _ interval: RefreshInterval = .minimum,
        _ change: (inout RefreshApp) -> Void = { _ in }
    ) -> RefreshApp {
        var app = RefreshApp(name)
        app.interval = interval
        change(&app)
        return app
    }
}
