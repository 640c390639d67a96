import Base
import Testing

@testable import Refresh

struct RefreshTraceTests {
    private static let head =
        #"{"schema":"sallyport.refresh-trace/1","name":"t","startAt":"2026-03-02T00:00:00Z","#
        + #""zoneMinutes":60,"apps":[{"name":"news","interval":"minimum"}]}"#

    private static func read(_ lines: [String]) throws(Failure) -> RefreshTrace {
        try RefreshTraceReader.read(
            [UInt8](lines.joined(separator: "\n").utf8), name: "trace.jsonl")
    }

    @Test func writesWhatItReads() throws {
        var app = RefreshApp("pods")
        app.interval = .seconds(900)
        app.storage = .complete
        app.buffersWhileLocked = true
        app.allowsCellular = false
        app.isLocal = true
        let kinds: [RefreshTrace.Kind] = [
            .device(.opened("pods")), .device(.closed("pods")), .device(.removed("pods")),
            .device(.ended("pods")), .device(.allowed("pods", false)),
            .device(.interval("pods", .never)), .device(.screen(isOn: true)),
            .device(.power(isCharging: true, level: 7)), .device(.link(.cellular)),
            .device(.locked), .device(.unlocked), .device(.rebooted), .device(.radio(1500)),
            .device(.consent("pods", isGranted: true)),
            .published("pods", thumbnails: 3, assets: 4),
            .pushed("pods", TracePush(.silent, lifetime: 60_000)),
            .pushed("pods", TracePush(.alertWithContent)), .outage("pods", true),
            .behaviour("pods", .completesTwice), .behaviour("pods", nil), .end,
        ]
        let trace = RefreshTrace(
            name: "all", start: Timestamp(microseconds: 1_772_409_600_000_000), zoneMinutes: -300,
            apps: [RefreshTrace.App(app, documentSize: 12)],
            events: kinds.enumerated().map { RefreshTrace.Event(at: Int64($0), $1) })
        #expect(try RefreshTraceReader.read(trace.lines, name: "all") == trace)
    }

    @Test(
        arguments: [
            ("no head", ["{}"], 1, "first line has not the schema"),
            ("empty", [""], nil, "no head"),
            ("no JSON", [head, "open news"], 2, "no JSON object"),
            ("array", [head, "[]"], 2, "no JSON object"),
            (
                "unknown event", [head, #"{"at":0,"event":"opne","app":"news"}"#], 2,
                "unknown event"
            ),
            ("unknown app", [head, #"{"at":0,"event":"open","app":"mail"}"#], 2, "app is none"),
            ("no app", [head, #"{"at":0,"event":"open"}"#], 2, "app is none"),
            ("unknown member", [head, #"{"at":0,"event":"lock","on":true}"#], 2, "unknown member"),
            ("no time", [head, #"{"event":"lock"}"#], 2, "at is no number"),
            ("negative time", [head, #"{"at":-1,"event":"lock"}"#], 2, "at is no number"),
            ("a time too late", [head, #"{"at":99999999999,"event":"lock"}"#], 2, "at is no"),
            ("a fraction", [head, #"{"at":1.5,"event":"lock"}"#], 2, "at is no number"),
            (
                "back in time",
                [head, #"{"at":9,"event":"lock"}"#, "", #"{"at":8,"event":"lock"}"#], 4,
                "at 8 is before 9"
            ),
            (
                "behind the end", [head, #"{"at":9,"event":"end"}"#, #"{"at":9,"event":"end"}"#], 3,
                ""
            ),
            (
                "no flag", [head, #"{"at":0,"event":"screen","on":1}"#], 2,
                "on is not true or false"
            ),
            (
                "no link", [head, #"{"at":0,"event":"link","link":"lte"}"#], 2,
                "none, cellular, wifi"
            ),
            (
                "level", [head, #"{"at":0,"event":"power","charging":true,"level":101}"#], 2,
                "level is no number"
            ),
            (
                "interval",
                [head, #"{"at":0,"event":"interval","app":"news","interval":"often"}"#],
                2, "interval is not"
            ),
            (
                "size", [head, #"{"at":0,"event":"publish","app":"news","assetBytes":-1}"#], 2,
                "size"
            ),
            (
                "push", [head, #"{"at":0,"event":"push","app":"news","kind":"loud"}"#], 2,
                "kind is not"
            ),
            (
                "a long line",
                [head, #"{"at":0,"event":"lock"\#(String(repeating: " ", count: 65_536))}"#], 2,
                "longer than 65536 bytes"
            ),
            ("no apps", [head.replacingApps("[]")], 1, "apps lists none"),
            ("twice", [head.replacingApps(#"[{"name":"a"},{"name":"a"}]"#)], 1, "two apps"),
            ("no name", [head.replacingApps("[{}]")], 1, "no name"),
            (
                "class", [head.replacingApps(#"[{"name":"a","storage":"all"}]"#)], 1,
                "storage is not"
            ),
        ] as [(String, [String], Int?, String)])
    func refusesWithTheLine(_ name: String, _ lines: [String], _ line: Int?, _ what: String) {
        do throws(Failure) {
            _ = try Self.read(lines)
            Issue.record("\(name) was read")
        } catch {
            #expect(error.code == "trace-invalid")
            #expect(error.detail.contains(what), "\(name): \(error.detail)")
            #expect(error.detail.contains("line \(line ?? 0):") == (line != nil), "\(name)")
        }
    }

    /// A file cut anywhere is read up to there or refused, and never anything else.
    @Test func survivesEveryCut() {
        let bytes = [UInt8]((Self.head + "\n" + #"{"at":3,"event":"open","app":"news"}"#).utf8)
        var whole = 0
        for count in 0...bytes.count {
            do throws(Failure) {
                _ = try RefreshTraceReader.read(Array(bytes.prefix(count)), name: "cut")
                whole += 1
            } catch {
                #expect(error.code == "trace-invalid")
            }
        }
        // With the head alone, with its line end, and with both lines.
        #expect(whole == 3)
    }

    @Test func boundsItsLength() {
        let long = [UInt8](repeating: 0x20, count: RefreshTraceReader.byteLimit + 1)
        #expect(throws: Failure.self) { try RefreshTraceReader.read(long, name: "long") }
    }
}

extension String {
    fileprivate func replacingApps(_ apps: String) -> String {
        guard let place = range(ofFirst: "\"apps\":") else { return self }
        return String(self[..<place]) + "\"apps\":\(apps)}"
    }

    private func range(ofFirst text: String) -> Index? {
        indices.first { self[$0...].hasPrefix(text) }
    }
}
