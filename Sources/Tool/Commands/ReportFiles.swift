internal import Base

/// Files for CI systems, for every command that judges.
struct ReportFiles {
    var json: String?
    var sarif: String?
    var junit: String?

    private var named: [(option: String, path: String)] {
        [("--output", json), ("--sarif", sarif), ("--junit", junit)].compactMap { option, path in
            path.map { (option, $0) }
        }
    }

    /// Finds out before a long run whether they can be written.
    ///
    /// - Parameter capture: what they must not take the place of.
    /// - Throws: a `UsageFailure` for a path that means two files, and `file-unwritable`.
    func check(besides capture: String?) throws {
        try refuse(capture)
        for (_, path) in named { try Files.checkReplaceable(path) }
    }

    private func refuse(_ capture: String?) throws(UsageFailure) {
        var known: [(option: String, path: String)] = []
        for (option, path) in named {
            if let capture, path == capture || Files.isSame(path, capture) {
                throw UsageFailure("\(option): \(path) is the capture, which it would replace")
            }
            if let other = known.first(where: { $0.path == path }), !path.hasPrefix("/dev/") {
                throw UsageFailure(
                    "\(other.option) and \(option): one would replace the other in \(path)")
            }
            known.append((option, path))
        }
    }

    /// Writes those that are asked for.
    ///
    /// - Throws: as `check` does: a path may have become the capture since.
    func write(
        besides capture: String?, json document: @autoclosure () -> JSONText,
        sarif log: @autoclosure () -> JSONText, junit text: @autoclosure () -> String
    ) throws {
        try refuse(capture)
        if let json { try Files.replace(json, document().line + [0x0A]) }
        if let sarif { try Files.replace(sarif, log().line + [0x0A]) }
        if let junit { try Files.replace(junit, Array(text().utf8)) }
    }
}

/// The options that name the files.
///
/// - Parameters:
///   - failures: what is written as SARIF.
///   - verdicts: what is written as JUnit XML.
func reportParameters(failures: String, verdicts: String) -> [Parameter<ReportFiles>] {
    [
        .option("output", \.json, .path("FILE"), "write the report as JSON"),
        .option("sarif", \.sarif, .path("FILE"), "write \(failures) as SARIF 2.1.0"),
        .option("junit", \.junit, .path("FILE"), "write \(verdicts) as JUnit XML"),
    ]
}
