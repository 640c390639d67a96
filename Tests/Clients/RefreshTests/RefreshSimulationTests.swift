import Base
import Testing

@testable import Refresh

struct RefreshSimulationTests {
    /// Two lines: sixty-four apps that are woken whenever they may be, for ten years.
    private static var endless: RefreshTrace {
        let apps = (0..<RefreshTraceReader.appLimit).map {
            RefreshTrace.App(.test("app-\($0)", .minimum))
        }
        let events: [RefreshTrace.Event] = [
            .init(at: 0, .device(.power(isCharging: true, level: 100))),
            .init(at: 0, .device(.screen(isOn: true))),
            .init(at: RefreshTraceReader.durationLimit, .end),
        ]
        return RefreshTrace(
            name: "endless", start: Timestamp(microseconds: 1_772_409_600_000_000), zoneMinutes: 0,
            apps: apps, events: events)
    }

    @Test func boundsDecisions() {
        var count = 0
        #expect {
            _ = try RefreshSimulation.play(Self.endless, seed: 1, decisionLimit: 5000) { _ in
                count += 1
            }
        } throws: {
            ($0 as? Failure)?.code == "trace-invalid"
                && ($0 as? Failure)?.detail.contains("more than 5000 decisions") == true
        }
        #expect(count == 5000)
    }

    /// Whoever cannot take more ends it at once: nothing is held back for the end.
    @Test func handsOnAsItGoes() {
        var last: Int64 = 0
        #expect {
            _ = try RefreshSimulation.play(Self.endless, seed: 1) { entry throws(Failure) in
                last = entry.at
                guard case .finished = entry.decision else { return }
                throw Failure("output-closed", party: .client, "nobody reads")
            }
        } throws: {
            ($0 as? Failure)?.code == "output-closed"
        }
        #expect(last / 1000 - 1_772_409_600 < 400)
    }

    /// The busiest of the traces that ship has room for ten years.
    @Test func hasRoomForWhatShips() throws {
        let heavy = RefreshTraceGenerator.generate(try #require(TracePerson.named("heavy")))
        let count = heavy.played(seed: 1).entries.count
        let most = Int64(count) * RefreshTraceReader.durationLimit / (heavy.events.last?.at ?? 1)
        #expect(most < Int64(RefreshSimulation.decisionLimit))
    }
}

/// A whole log.
struct PlayedLog: Equatable {
    var entries: [DecisionLog.Entry] = []
    var bytes: [UInt8] = []
    var measures = RefreshMeasures()
}

extension RefreshTrace {
    func played(seed: UInt64) -> PlayedLog {
        var log = PlayedLog()
        log.bytes = DecisionLog.head(self, seed: seed) + [0x0A]
        do throws(Failure) {
            log.measures = try RefreshSimulation.play(self, seed: seed) { entry in
                log.entries.append(entry)
                log.bytes += entry.line + [0x0A]
            }
        } catch {
            Issue.record(error)
        }
        return log
    }
}
