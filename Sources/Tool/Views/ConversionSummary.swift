package import Base
package import Formats

/// What a conversion did and could not keep.
package struct ConversionSummary {
    /// `import` or `export`.
    package let verb: String
    /// The file that was written, `nil` for the standard output.
    package let subject: String?
    package let losses: LossReport
    /// Of what was read, each with its singular.
    package var counts: [(name: String, count: Int64)] = []

    package init(verb: String, subject: String?, losses: LossReport) {
        self.verb = verb
        self.subject = subject
        self.losses = losses
    }

    /// A line in the schema `sallyport.import/1` or `sallyport.export/1`.
    package var json: JSONText {
        var members = [
            JSONText.Member("schema", .string("sallyport.\(verb)/1")),
            JSONText.Member("file", .optional(subject)),
        ]
        members += counts.map { JSONText.Member("\($0.name)s", .integer($0.count)) }
        return .object(members + [JSONText.Member("losses", losses.json)])
    }
}
