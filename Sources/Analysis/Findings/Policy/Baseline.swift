package import Base

/// The findings that a team starts from: only what is new fails.
///
/// A line is the fingerprint of a finding; what stands behind it is for people. Fingerprints hold
/// neither positions nor values, so that a line stays true when traffic moves, and gives nothing
/// away.
package struct Baseline: Sendable {
    package struct Entry: Sendable {
        let fingerprint: String
        /// The rule and the place, as they were written.
        package let title: String
        /// Empty if it is not told.
        let rule: String
    }

    /// As messages name it.
    package let path: String
    let entries: [Entry]

    /// Reads a baseline.
    ///
    /// Errors: `baseline-invalid`, with line and column.
    package init(_ bytes: [UInt8], path: String) throws(Failure) {
        var entries: [Entry] = []
        var number = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let line = Array(line).trimmed
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
            let word = words.first ?? []
            guard word.count == Self.fingerprintLength, word.allSatisfy({ $0.hexDigitValue != nil })
            else {
                throw Failure(
                    "baseline-invalid", party: .tool,
                    "\(path):\(number):1: a line begins with the"
                        + " \(Self.fingerprintLength) hexadecimal digits of a fingerprint",
                    hint: "'sallyport check CAPTURE --write-baseline FILE' writes one")
            }
            let title = words.count > 1 ? String(words[1].text.withoutUnseen.prefix(400)) : ""
            entries.append(
                Entry(
                    fingerprint: word.text.lowercased(), title: title,
                    rule: String(title.prefix { $0 != " " })))
            guard entries.count <= Self.entryLimit else {
                throw Failure(
                    "baseline-invalid", party: .tool,
                    "\(path):\(number):1: more than \(Self.entryLimit) findings")
            }
        }
        self.path = path
        self.entries = entries
    }

    private static let fingerprintLength = 32
    /// More than one report can hold.
    private static let entryLimit = 200_000
}

extension FindingsReport {
    /// A baseline of what was found and is not accepted by a policy. If there was one already, what
    /// is new stays out of it: it can only shrink.
    package var baselineText: String {
        let kept = findings.filter { finding in
            switch finding.state {
            case .open: outcome.baseline == nil
            case .known: true
            case .suppressed: false
            }
        }
        let lines = kept.map { finding in
            // A port that is another one in the next run would change the line.
            var finding = finding
            finding.urlTemplate.port = finding.urlTemplate.chosenPort
            finding.urlTemplate.dialogue?.port = nil
            return "\(finding.rule.rawValue) \(finding.place)\n\(finding.fingerprint)"
        }.sorted()
        return Self.baselineHead
            + lines.map { line in
                let parts = line.split(separator: "\n")
                return "\(parts[1]) \(parts[0])\n"
            }.joined()
    }

    private static let baselineHead = """
        # Findings that were there before: 'sallyport check --baseline FILE' fails on others only.
        # The first word of a line counts; the rest is for people.

        """
}
