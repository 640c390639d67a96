package import Base
internal import HTTPModel
internal import HTTPServer

/// What goes wrong for whom: rules in their order.
package struct Scenario: Sendable {
    package struct Rule: Sendable {
        /// For the journal; it decides what is drawn as well, so that a rule that is put ahead of
        /// others changes nothing for them.
        var name: String
        var host: String?
        /// `*` stands for any run of characters.
        var path = "*"
        var methods: [String] = []
        /// Whether a part has to be asked for; `nil` for either.
        var asksForRange: Bool?
        var turn = Turn.every
        /// In thousandths.
        var odds: UInt64 = 1000
        var faults: [Fault] = []
    }

    /// Which of a client's requests to a rule are meant, counted from 1.
    package enum Turn: Sendable, Equatable {
        case every
        case first(UInt64)
        case nth(UInt64)
        case from(UInt64)
        case each(UInt64)

        func means(_ ordinal: UInt64) -> Bool {
            switch self {
            case .every: true
            case .first(let count): ordinal <= count
            case .nth(let number): ordinal == number
            case .from(let number): ordinal >= number
            case .each(let number): ordinal % number == 0
            }
        }
    }

    package private(set) var rules: [Rule] = []

    package init() {}

    init(_ rules: [Rule]) {
        self.rules = rules
    }

    /// Reads the file of a scenario.
    ///
    /// Errors: `scenario-invalid`.
    package static func read(_ bytes: [UInt8], path: String) throws(Failure) -> Scenario {
        var reader = ScenarioReader(path: path)
        return try reader.read(bytes)
    }
}

extension Scenario.Rule {
    func matches(_ request: ServerRequest) -> Bool {
        if let host, !Glob.matches(request.host ?? "", host) { return false }
        guard methods.isEmpty || methods.contains(request.method.text),
            Glob.matches(request.path.raw.text, path)
        else { return false }
        guard let asksForRange else { return true }
        return asksForRange == (request.fields.first(named: "range") != nil)
    }
}
