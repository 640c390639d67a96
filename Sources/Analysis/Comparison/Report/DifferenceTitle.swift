extension Difference {
    /// What is compared, in words for a person.
    package var title: String {
        let owner = message.map { "\(side.rawValue) message \($0)" } ?? side.rawValue
        let subject =
            switch kind {
            case .authority: "authority"
            case .path: "path"
            case .query: "query parameter"
            case .status: "status"
            case .outcome: path
            case .version: "protocol"
            case .interim: "interim response"
            case .field: "\(side.rawValue) field"
            case .trailer: "\(side.rawValue) trailer"
            case .json: "\(owner) JSON"
            case .form: "\(owner) form field"
            case .text: "\(owner) text"
            case .binary: "\(owner) content"
            case .message: owner
            }
        return kind == .outcome || path.isEmpty ? subject : "\(subject) \(path)"
    }

    /// That a token was cut off, or is of another kind, shows in its length. How long a password is
    /// that kept its length is nobody's business.
    private var maskedLengths: String {
        guard let counts = maskedCounts, counts.count == 2 else { return "" }
        return counts[0] == counts[1]
            ? ", of the same length" : " (\(counts[0]) and \(counts[1]) bytes)"
    }

    /// What is said where there are no two values to show.
    package var remark: String? {
        if change == .moved { return "in another order" }
        if isMasked { return "differs in what is masked" + maskedLengths }
        return left == nil && right == nil ? "spelled differently" : nil
    }
}
