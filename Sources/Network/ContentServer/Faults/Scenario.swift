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
        /// The byte of an upload that the request's content has to reach; `nil` for any request.
        var reachedByte: UInt64?
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
    /// - Parameter steps: how many the comparisons may take.
    func matches(_ request: ServerRequest, steps: inout Int) -> Bool {
        if let host, !Glob.matches(request.host ?? "", host, steps: &steps) { return false }
        guard methods.isEmpty || methods.contains(request.method.text),
            Glob.matches(request.path.raw.text, path, steps: &steps)
        else { return false }
        if let reachedByte, !Self.reaches(reachedByte, request) { return false }
        guard let asksForRange else { return true }
        return asksForRange == (request.fields.first(named: "range") != nil)
    }

    /// Whether content of the request, which may go on with an upload, begins ahead of byte `place`
    /// and goes up to it; content whose length is not known may.
    private static func reaches(_ place: UInt64, _ request: ServerRequest) -> Bool {
        guard ![.get, .head, .delete, .options].contains(request.method) else { return false }
        let start = request.uploadOffset ?? 0
        guard start < place else { return false }
        guard let length = request.fields.first(named: "content-length").flatMap({ decimal($0) })
        else {
            return request.version == .http2
                || request.fields.first(named: "transfer-encoding") != nil
        }
        return length >= place - start
    }
}

extension ServerRequest {
    /// Where the request goes on with an upload; `nil` if it does not say.
    var uploadOffset: UInt64? {
        fields.first(named: "upload-offset").flatMap { decimal($0) }
    }
}
