package import Base

/// How a scheduler did on a trace, beside a timer of 15 minutes and beside fetching at openings
/// alone.
package struct RefreshReport: Sendable, Equatable {
    package let trace: String
    package let seed: UInt64
    package let days: Int64
    package let scheduler: RefreshMeasures
    package let timer: RefreshMeasures
    package let openingOnly: RefreshMeasures
    /// What would suit each app, by how often its server has something new.
    package let advice: [(app: String, RefreshAdvice)]

    package static let schema = "sallyport.refresh-report/1"
    /// In milliseconds.
    package static let timerInterval: Int64 = 900_000

    /// - Parameter measures: what a simulation of the trace with this seed took and brought.
    package init(_ trace: RefreshTrace, seed: UInt64, _ measures: RefreshMeasures) {
        self.trace = trace.name
        self.seed = seed
        days = max(1, (trace.events.last?.at ?? 0) / 86_400)
        scheduler = measures
        timer = RefreshBaseline.play(trace, seed: seed, timer: Self.timerInterval)
        openingOnly = RefreshBaseline.play(trace, seed: seed, timer: nil)
        advice = trace.apps.map { ($0.app.name, RefreshAdvice($0.app.name, in: trace)) }
    }

    package static func == (left: RefreshReport, right: RefreshReport) -> Bool {
        left.json == right.json
    }

    /// Whether the scheduler took less than the timer and still had the fresher content.
    package var beatsTimer: Bool {
        scheduler.bytes < timer.bytes && scheduler.wakes < timer.wakes
            && scheduler.meanStaleness < timer.meanStaleness
            && scheduler.freshOpenings >= timer.freshOpenings
    }

    package var json: JSONText {
        [
            "schema": .string(Self.schema), "trace": .string(trace),
            "seed": .string(String(seed)), "days": .integer(days),
            "beatsTimer": .boolean(beatsTimer), "scheduler": scheduler.json, "timer": timer.json,
            "openingOnly": openingOnly.json,
            "advice": .array(
                advice.map { app, advice in
                    ["app": .string(app), "advice": .string(advice.rawValue)]
                }),
        ]
    }
}

extension RefreshMeasures {
    fileprivate var json: JSONText {
        [
            "wakes": .integer(Int64(wakes)), "usefulWakes": .integer(Int64(usefulWakes)),
            "pushWakes": .integer(Int64(pushWakes)), "windows": .integer(Int64(windows)),
            "violations": .integer(Int64(violations)), "bytes": .integer(bytes),
            "backgroundBytes": .integer(backgroundBytes),
            "foregroundBytes": .integer(foregroundBytes),
            "handedOverBytes": .integer(handedOver), "radioMs": .integer(radio),
            "openings": .integer(Int64(openings)),
            "freshOpenings": .integer(Int64(freshOpenings)),
            "stalenessMs": Self.milliseconds(meanStaleness, staleness(percentile:)),
            "ageMs": Self.milliseconds(meanAge, age(percentile:)),
        ]
    }

    private static func milliseconds(_ mean: Int64, _ percentile: (Int) -> Int64) -> JSONText {
        [
            "mean": .integer(mean), "p50": .integer(percentile(50)),
            "p95": .integer(percentile(95)),
        ]
    }
}

/// Whether an app's content comes so that pushes or fetches suit it.
package enum RefreshAdvice: String, Sendable, CaseIterable {
    /// Something new comes now and then: a push each time costs less than to look.
    case push
    /// Something new comes so often that pushes would be held back.
    case fetch
    /// Nothing came.
    case nothing

    init(_ app: String, in trace: RefreshTrace) {
        let count = trace.events.count {
            if case .published(app, _, _) = $0.kind { true } else { false }
        }
        let hours = max(1, (trace.events.last?.at ?? 0) / 3600)
        // A couple of silent pushes an hour go straight through.
        self = count == 0 ? .nothing : Int64(count) > 2 * hours ? .fetch : .push
    }
}
