internal import Base

/// A form in which findings are written; the raw values are the names of options where it is a
/// file's.
package enum ReportFormat: String, Sendable, CaseIterable {
    case json = "output"
    case sarif
    case junit
    case gitlab
    case html
    case baseline = "write-baseline"
    /// The commands to GitHub Actions that annotate a run.
    case annotations
    /// The part of a summary that GitHub Actions shows.
    case summary
}

/// What a report is about.
package struct ReportSubject: Sendable {
    package let toolVersion: String
    /// The path of the capture, relative to the current folder if it is below it.
    package let capture: String
    /// What else is told of a run, a line each.
    package let facts: [String]
    /// Why the verdict cannot be a clean one, besides the reasons of the report.
    package let reasons: [String]

    package init(
        toolVersion: String, capture: String, facts: [String] = [], reasons: [String] = []
    ) {
        self.toolVersion = toolVersion
        self.capture = capture
        self.facts = facts
        self.reasons = reasons
    }
}

extension FindingsReport {
    /// The report in one of the forms.
    package func document(_ format: ReportFormat, of subject: ReportSubject) -> [UInt8] {
        let (version, capture) = (subject.toolVersion, subject.capture)
        let reasons = self.reasons.map(\.text) + subject.reasons
        return switch format {
        case .json: FindingsJSON.document(self).line + [0x0A]
        case .sarif:
            sarif(toolVersion: version, capture: capture, reasons: reasons).line + [0x0A]
        case .junit: Array(junit(toolVersion: version, capture: capture, reasons: reasons).utf8)
        case .gitlab:
            GitLabDocument.document(self, source: source(capture), reasons: reasons).line + [0x0A]
        case .html: FindingsHTML.page(self, of: subject, reasons: reasons)
        case .baseline: Array(baselineText.utf8)
        case .annotations:
            Array(
                GitHubReport.annotations(self, source: source(capture), reasons: reasons).utf8)
        case .summary: GitHubReport.summary(self, of: capture, reasons: reasons)
        }
    }

    /// Where findings are placed for tools that show files: at the policy, which is one of the
    /// repository, or at the capture.
    func source(_ capture: String) -> SourceLocation {
        SourceLocation(outcome.path.isEmpty ? capture : outcome.path)
    }
}
