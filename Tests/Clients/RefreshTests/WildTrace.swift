import Base

@testable import Refresh

/// Four days on which anything may happen at any time, also what makes no sense.
enum WildTrace {
    static func make(seed: UInt64) -> RefreshTrace {
        var drawn: UInt64 = 0
        func draw(_ bound: UInt64) -> Int {
            drawn += 1
            return Int(SplitMix.word(seed: seed, drawn) % bound)
        }
        let apps = (0..<5).map { number in
            var app = RefreshApp("app-\(number)")
            app.interval = [.minimum, .seconds(Int64(draw(7200))), .minimum, .never][draw(4)]
            app.storage = StorageClass.allCases[draw(3)]
            app.buffersWhileLocked = draw(2) == 0
            app.allowsCellular = draw(3) > 0
            app.isLocal = draw(4) == 0
            return RefreshTrace.App(app, documentSize: Int64(draw(200_000)))
        }
        var at: Int64 = 0
        var events = [RefreshTrace.Event(at: 0, .device(.consent("app-0", isGranted: true)))]
        while at < 4 * 86_400 {
            at += Int64(draw(4) == 0 ? draw(1800) : draw(200))
            let kind = kind(apps[draw(5)].app.name, draw)
            events.append(RefreshTrace.Event(at: at, kind))
        }
        return RefreshTrace(
            name: "wild", start: Timestamp(microseconds: 1_772_409_600_000_000), zoneMinutes: 0,
            apps: apps, events: events + [RefreshTrace.Event(at: at + 60, .end)])
    }

    private static func kind(_ app: String, _ draw: (UInt64) -> Int) -> RefreshTrace.Kind {
        switch draw(40) {
        case 0...4: .device(.screen(isOn: draw(2) == 0))
        case 5...7: .device(.opened(app))
        case 8...11: .device(.closed(app))
        case 12: .device(draw(4) == 0 ? .removed(app) : .ended(app))
        case 13: .device(.allowed(app, draw(4) > 0))
        case 14: .device(.interval(app, [.never, .minimum, .seconds(600)][draw(3)]))
        case 15...16: .device(.power(isCharging: draw(2) == 0, level: draw(101)))
        case 17...19: .device(.link([.none, .cellular, .wifi, .wifi][draw(4)]))
        case 20...21: .device(.locked)
        case 22...24: .device(.unlocked)
        case 25: draw(5) == 0 ? .device(.rebooted) : .device(.unlocked)
        case 26...27: .device(.radio(Int64(draw(90_000))))
        case 28: .device(.consent(app, isGranted: draw(3) > 0))
        case 29: .outage(app, draw(2) == 0)
        case 30: .behaviour(app, draw(3) == 0 ? AppFault.allCases[draw(5)] : nil)
        case 31...34: .pushed(app, push(draw))
        default:
            .published(
                app, thumbnails: Int64(draw(30_000)), assets: Int64(draw(1_000_000)))
        }
    }

    private static func push(_ draw: (UInt64) -> Int) -> TracePush {
        TracePush(
            TracePush.Kind.allCases[draw(3)], lifetime: [nil, 0, 30_000, 3_600_000][draw(4)])
    }
}
