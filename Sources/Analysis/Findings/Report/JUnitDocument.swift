package import Base
internal import Contents

/// Verdicts as JUnit XML.
///
/// There is no one schema; this is what Jenkins, GitLab and pytest's readers share. Some of them
/// show neither the message nor the suite, so the text of a failure says all of it again.
package struct JUnitDocument {
    package struct Case {
        /// What it is grouped by.
        package let group: String
        package let name: String
        /// In microseconds.
        package var duration: Int64 = 0
        package let state: State
        package let details: String

        package enum State {
            case passed
            case failed(message: String, type: String)
            /// Nothing could be said.
            case broken(message: String, type: String)
            case skipped(message: String)
        }

        package init(
            group: String, name: String, duration: Int64 = 0, state: State, details: String
        ) {
            self.group = group
            self.name = name
            self.duration = duration
            self.state = state
            self.details = details
        }

        /// The type of a failure; `nil` for what did not fail.
        var failure: String? { if case .failed(_, let type) = state { type } else { nil } }
        fileprivate var isBroken: Bool { if case .broken = state { true } else { false } }
        fileprivate var isSkipped: Bool { if case .skipped = state { true } else { false } }
    }

    package struct Suite {
        package let name: String
        package let host: String
        package let startedAt: Timestamp?
        package let properties: [(String, String)]
        package let cases: [Case]

        package init(
            name: String, host: String, startedAt: Timestamp?, properties: [(String, String)],
            cases: [Case]
        ) {
            self.name = name
            self.host = host
            self.startedAt = startedAt
            self.properties = properties
            self.cases = cases
        }
    }

    package let name: String
    /// In microseconds.
    package let duration: Int64
    package let suites: [Suite]

    package init(name: String, duration: Int64, suites: [Suite]) {
        self.name = name
        self.duration = duration
        self.suites = suites
    }

    package var text: String {
        let opening =
            [("name", name)] + Self.counts(suites.flatMap(\.cases))
            + [("time", Self.seconds(duration))]
        let lines =
            [
                #"<?xml version="1.0" encoding="UTF-8"?>"#,
                "<testsuites" + Self.attributes(opening) + ">",
            ] + suites.flatMap(Self.suiteLines) + ["</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func suiteLines(_ suite: Suite) -> [String] {
        let duration = suite.cases.reduce(into: Int64(0)) {
            $0 += max(0, min($1.duration, .max - $0))
        }
        var opening = [("name", suite.name)] + counts(suite.cases) + [("time", seconds(duration))]
        if let startedAt = suite.startedAt {
            // Without the fraction and the zone, which some readers do not take.
            opening.append(("timestamp", String(startedAt.rfc3339.prefix(19))))
        }
        opening.append(("hostname", suite.host))
        let properties = suite.properties.map {
            "      <property" + attributes([("name", $0.0), ("value", $0.1)]) + "/>"
        }
        return ["  <testsuite" + attributes(opening) + ">", "    <properties>"] + properties
            + ["    </properties>"] + suite.cases.flatMap(caseLines) + ["  </testsuite>"]
    }

    private static func caseLines(_ testCase: Case) -> [String] {
        let opening =
            "    <testcase"
            + attributes([
                ("classname", testCase.group), ("name", testCase.name),
                ("time", seconds(testCase.duration)),
            ]) + ">"
        let body = MarkupText.escaped(testCase.details)
        let inner =
            switch testCase.state {
            case .failed(let message, let type):
                "<failure" + attributes([("message", message), ("type", type)])
                    + ">\(body)</failure>"
            case .broken(let message, let type):
                "<error" + attributes([("message", message), ("type", type)]) + ">\(body)</error>"
            case .skipped(let message): "<skipped" + attributes([("message", message)]) + "/>"
            case .passed: "<system-out>\(body)</system-out>"
            }
        return [opening, "      " + inner, "    </testcase>"]
    }

    private static func counts(_ cases: [Case]) -> [(String, String)] {
        [
            ("tests", String(cases.count)),
            ("failures", String(cases.count { $0.failure != nil })),
            ("errors", String(cases.count(where: \.isBroken))),
            ("skipped", String(cases.count(where: \.isSkipped))),
        ]
    }

    private static func attributes(_ pairs: [(String, String)]) -> String {
        pairs.map { " \($0.0)=\"\(MarkupText.escaped($0.1, keepsLines: false))\"" }.joined()
    }

    private static func seconds(_ microseconds: Int64) -> String {
        let time = max(0, microseconds)
        return "\(time / 1_000_000).\(padded(Int(time % 1_000_000), 6))"
    }
}
