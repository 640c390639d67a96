package import Base

/// One run of the tool as SARIF 2.1.0, as GitHub's code scanning wants it.
package struct SARIFDocument {
    package struct Rule {
        package let id: String
        package let title: String
        package let description: String
        package let help: String
        package let severity: Severity
        package let precision: String
        package let tags: [String]

        package init(
            id: String, title: String, description: String, help: String, severity: Severity,
            precision: String, tags: [String]
        ) {
            self.id = id
            self.title = title
            self.description = description
            self.help = help
            self.severity = severity
            self.precision = precision
            self.tags = tags
        }
    }

    package struct Result {
        package let rule: Rule
        package let kind: String
        package let level: String
        package let message: String
        /// A result without a place makes GitHub refuse the whole file. What is no file of the
        /// repository is shown without its text.
        package let source: SourceLocation
        /// Where it was seen, as people say it.
        package let place: String
        /// Equal for the same result of another run.
        package let fingerprint: String
        /// Whether it was not there before, `nil` if nobody knows.
        package let isNew: Bool?
        /// Why it is accepted, `nil` if it is not.
        package let suppression: String?
        package let properties: JSONText

        package init(
            rule: Rule, kind: String = "fail", level: String, message: String,
            source: SourceLocation, place: String, fingerprint: String, isNew: Bool? = nil,
            suppression: String? = nil, properties: JSONText
        ) {
            self.rule = rule
            self.kind = kind
            self.level = level
            self.message = message
            self.source = source
            self.place = place
            self.fingerprint = fingerprint
            self.isNew = isNew
            self.suppression = suppression
            self.properties = properties
        }
    }

    /// Which analysis of a repository it is, such as `sallyport-audit/`.
    package let category: String
    package let toolVersion: String
    /// `nil` if nobody knows.
    package let startedAt: Timestamp?
    private let results: ArraySlice<Result>
    /// What was not seen, so that no results prove nothing.
    private let warnings: [String]
    /// What a verdict hangs on besides.
    private let remarks: [String]

    package init(
        category: String, toolVersion: String, startedAt: Timestamp? = nil, results: [Result],
        warnings: [String] = [], remarks: [String] = []
    ) {
        self.warnings = warnings
        self.remarks = remarks
        self.category = category
        self.toolVersion = toolVersion
        self.startedAt = startedAt
        self.results = results.prefix(Self.resultLimit)
    }

    package var json: JSONText {
        var rules: [Rule] = []
        var indexes: [String: Int] = [:]
        for rule in results.map(\.rule) where indexes[rule.id] == nil {
            indexes[rule.id] = rules.count
            rules.append(rule)
        }
        var invocation = [JSONText.Member("executionSuccessful", .boolean(warnings.isEmpty))]
        if let startedAt {
            invocation.append(JSONText.Member("startTimeUtc", .string(startedAt.rfc3339)))
        }
        let notifications = [("error", warnings), ("note", remarks)].flatMap { level, texts in
            texts.map { text -> JSONText in
                ["level": .string(level), "message": ["text": .string(Self.escaped(text))]]
            }
        }
        if !notifications.isEmpty {
            invocation.append(.init("toolExecutionNotifications", .array(notifications)))
        }
        let run: JSONText = [
            "tool": [
                "driver": [
                    "name": "Sallyport", "version": .string(toolVersion),
                    "rules": .array(rules.map(Self.object)),
                ]
            ],
            "automationDetails": ["id": .string(category)],
            "invocations": .array([.object(invocation)]),
            "columnKind": "utf16CodeUnits",
            "results": .array(results.map { Self.object($0, indexes[$0.rule.id] ?? 0) }),
        ]
        return [
            "$schema": .string(Self.schema), "version": "2.1.0", "runs": .array([run]),
        ]
    }

    package static func level(_ severity: Severity) -> String {
        switch severity {
        case .critical, .high: "error"
        case .medium: "warning"
        case .low, .info: "note"
        }
    }

    private static func object(_ rule: Rule) -> JSONText {
        var properties: [JSONText.Member] = [
            .init("tags", .array(rule.tags.prefix(tagLimit).map(JSONText.string))),
            .init("precision", .string(rule.precision)),
        ]
        if let score = score(rule.severity) {
            properties.append(.init("security-severity", .string(score)))
        }
        return [
            "id": .string(rule.id),
            "name": .string(rule.id),
            "shortDescription": text(rule.title),
            "fullDescription": text(rule.description),
            "help": text(rule.help),
            "defaultConfiguration": ["level": .string(level(rule.severity))],
            "properties": .object(properties),
        ]
    }

    private static func object(_ result: Result, _ ruleIndex: Int) -> JSONText {
        var members: [JSONText.Member] = [
            .init("ruleId", .string(result.rule.id)),
            .init("ruleIndex", .integer(Int64(ruleIndex))),
            .init("kind", .string(result.kind)),
            .init("level", .string(result.level)),
            .init("message", ["text": .string(escaped(result.message))]),
            .init("locations", .array([location(result)])),
            .init(
                "partialFingerprints", ["primaryLocationLineHash": .string(result.fingerprint)]),
        ]
        if let isNew = result.isNew {
            members.append(.init("baselineState", isNew ? "new" : "unchanged"))
        }
        if let suppression = result.suppression {
            members.append(
                .init(
                    "suppressions",
                    .array([["kind": "external", "justification": .string(suppression)]])))
        }
        return .object(members + [.init("properties", result.properties)])
    }

    private static func location(_ result: Result) -> JSONText {
        [
            "physicalLocation": [
                "artifactLocation": ["uri": .string(result.source.uri)],
                "region": ["startLine": .integer(result.source.line), "startColumn": 1],
            ],
            "logicalLocations": .array([["fullyQualifiedName": .string(result.place)]]),
        ]
    }

    /// GitHub reads more than 9.0 as critical, 7.0 to 8.9 as high, 4.0 to 6.9 as medium.
    private static func score(_ severity: Severity) -> String? {
        switch severity {
        case .critical: "9.5"
        case .high: "8.0"
        case .medium: "5.5"
        case .low: "2.0"
        case .info: nil
        }
    }

    private static func text(_ text: String) -> JSONText {
        ["text": .string(String(text.unicodeScalars.prefix(textLimit)))]
    }

    /// In a message, braces stand for arguments unless doubled (SARIF §3.11.5), and brackets for
    /// links unless a backslash is before them (§3.11.6).
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, character in
            switch character {
            case "{", "}": result.unicodeScalars.append(character)
            case "[", "]", "\\": result += "\\"
            default: break
            }
            result.unicodeScalars.append(character)
        }
    }

    private static let schema =
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    // What GitHub takes.
    private static let resultLimit = 25_000
    private static let tagLimit = 20
    private static let textLimit = 1024
}
