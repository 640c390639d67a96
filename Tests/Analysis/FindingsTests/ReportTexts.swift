import Base
import Testing

@testable import Findings

/// All that a report can say, in every form that it has.
enum ReportTexts {
    static let subject = ReportSubject(
        toolVersion: "0", capture: "a.sallyport", facts: ["a fact"], reasons: ["a reason"])

    static func all(_ report: FindingsReport) -> [String] {
        var texts = ReportFormat.allCases.map { report.document($0, of: subject).text }
        for isVerbose in [false, true] {
            texts.append(FindingsText.render(report, verbose: isVerbose, color: true))
        }
        var dumped = ""
        dump(report, to: &dumped)
        texts.append(dumped)
        for finding in report.findings { texts += [String(describing: finding), finding.place] }
        return texts
    }

    static func expect(noneOf secrets: [String], in report: FindingsReport) {
        let texts = all(report)
        for form in secrets.flatMap(forms) {
            for text in texts where text.contains(form) { Issue.record("\(form) in \(text)") }
        }
    }

    /// The forms that a leak would have.
    private static func forms(of secret: String) -> [String] {
        let bytes = Array(secret.utf8)
        var forms = [
            secret, PercentText.encode(secret), bytes.hex, bytes.hex.uppercased(),
            String(secret.reversed()), secret.uppercased(),
            secret.map { "\\u00" + [$0.asciiValue ?? 0].hex }.joined(),
            MarkupText.escaped(secret), secret.map { String($0) }.joined(separator: "\0"),
        ]
        for offset in 0..<3 {
            let text = Base64.encode([UInt8](repeating: 0, count: offset) + bytes)
            let core = text.dropFirst((offset * 8 + 5) / 6).prefix(
                (offset + bytes.count) * 8 / 6 - 4)
            forms.append(String(core))
        }
        let half = secret.count / 2
        if half >= 6 { forms += [String(secret.prefix(half)), String(secret.suffix(half))] }
        return forms
    }
}
