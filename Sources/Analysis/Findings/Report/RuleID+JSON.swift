package import Base

extension RuleID {
    /// What a rule means, in the schema `sallyport.rule/1`.
    package var json: JSONText {
        [
            "schema": .string("sallyport.rule/1"),
            "rule": .string(rawValue),
            "title": .string(text.title),
            "worstSeverity": text.worst.map { .string($0.rawValue) } ?? .null,
            "blames": .string(text.party.rawValue),
            "reason": .string(text.reason),
            "decision": .string(text.decision),
            "exceptions": .string(text.exceptions),
            "advice": .string(text.advice),
            "cwe": .array(text.weaknesses.map { .integer(Int64($0)) }),
        ]
    }
}
