internal import Base

/// Reads the file of a policy, section by section.
struct PolicyReader {
    private(set) var policy: FindingsPolicy
    private let now: Timestamp
    /// Whether it says what fails.
    private var hasLevel = false

    init(path: String, now: Timestamp) {
        policy = FindingsPolicy(path: path)
        self.now = now
    }

    mutating func read(_ bytes: [UInt8]) throws(Failure) {
        let lines: SettingLines
        do throws(SettingLines.Violation) {
            lines = try SettingLines(bytes)
        } catch {
            throw invalid(
                error.place, "expected 'name = value' or '[section]'",
                "the sections are \(Self.inWords(SectionName.self))")
        }
        for section in lines.sections { try read(section) }
    }

    private enum SectionName: String, CaseIterable { case gate, budget, expect, suppress }

    private mutating func read(_ section: SettingLines.Section) throws(Failure) {
        guard let text = section.name else {
            for setting in section.settings { try readGlobal(setting) }
            return
        }
        switch try word(text, at: section.place, of: SectionName.self, "section") {
        case .gate: for setting in section.settings { try readGate(setting) }
        case .budget: for setting in section.settings { try readBudget(setting) }
        case .expect: for setting in section.settings { try readExpectation(setting) }
        case .suppress: try readSuppression(section)
        }
        guard policy.suppressions.count + policy.expectations.count <= Self.countLimit else {
            throw invalid(
                section.place, "more than \(Self.countLimit) suppressions and expectations",
                "a rule that is never to fail is said in one line: '[gate]', then 'RULE = never'")
        }
    }

    // MARK: Sections

    private enum GlobalName: String, CaseIterable {
        case firstParty = "first-party"
        case clearHost = "cleartext-host"
        case profile
        case population
    }

    private mutating func readGlobal(_ setting: SettingLines.Setting) throws(Failure) {
        let value = try value(of: setting)
        switch try word(setting.name, at: setting.place, of: GlobalName.self, "setting") {
        case .firstParty:
            _ = try host(setting)
            // A domain stands for all its hosts there.
            policy.firstParties.append(value.hasPrefix("*.") ? String(value.dropFirst(2)) : value)
        case .clearHost: policy.clearHosts.append(try host(setting))
        case .profile:
            guard policy.profilePath == nil else { throw twice(setting) }
            policy.profilePath = value
        case .population:
            guard policy.population == nil else { throw twice(setting) }
            policy.population = Int(clamping: try number(setting, from: 1))
        }
        guard policy.firstParties.count + policy.clearHosts.count <= Self.countLimit else {
            throw invalid(
                setting.place, "more than \(Self.countLimit) hosts",
                "a domain with all its hosts is said in one line: *.shop.example")
        }
    }

    private mutating func readGate(_ setting: SettingLines.Setting) throws(Failure) {
        if setting.name == "waive" {
            guard try value(of: setting) == InconclusiveReason.partlyRead.rawValue else {
                throw invalid(setting.valuePlace, "only 'partly-read' can be waived", nil)
            }
            policy.gate.waivesPartlyRead = true
            return
        }
        let level = try level(setting)
        if setting.name == "fail-on" {
            guard !hasLevel else { throw twice(setting) }
            hasLevel = true
            policy.gate.standard = level
            return
        }
        let rule = try word(setting.name, at: setting.place, of: RuleID.self, "rule")
        guard policy.gate.rules.updateValue(level, forKey: rule) == nil else {
            throw twice(setting)
        }
        policy.gate.lines[rule] = setting.place.line
    }

    private mutating func readBudget(_ setting: SettingLines.Setting) throws(Failure) {
        let amount = try word(
            setting.name, at: setting.place, of: BudgetedAmount.self, "budget")
        let limit = try number(setting, from: 0)
        guard policy.budget.updateValue(limit, forKey: amount) == nil else { throw twice(setting) }
    }

    private enum ExpectationName: String, CaseIterable { case host, planted, exchanges }

    private mutating func readExpectation(_ setting: SettingLines.Setting) throws(Failure) {
        let value = try value(of: setting)
        let subject: Expectation.Subject
        switch try word(setting.name, at: setting.place, of: ExpectationName.self, "expectation") {
        case .host: subject = .host(try host(setting), value)
        case .planted: subject = .planted(value)
        case .exchanges: subject = .exchanges(Int(clamping: try number(setting, from: 1)))
        }
        policy.expectations.append(Expectation(place: setting.place, subject: subject))
    }

    // MARK: Suppressions

    private enum SuppressionName: String, CaseIterable {
        case rule, service, path, field, fingerprint, reason, owner, expires
    }

    private mutating func readSuppression(
        _ section: SettingLines.Section
    ) throws(Failure) {
        var given: [SuppressionName: SettingLines.Setting] = [:]
        for setting in section.settings {
            let name = try word(
                setting.name, at: setting.place, of: SuppressionName.self, "setting")
            _ = try value(of: setting)
            guard given.updateValue(setting, forKey: name) == nil else { throw twice(setting) }
        }
        guard let reason = given[.reason]?.value else {
            throw invalid(
                section.place, "a suppression needs a reason",
                "say why it is accepted: 'reason = the old shop is switched off in spring'")
        }
        guard let expiry = given[.expires] else {
            throw invalid(
                section.place, "a suppression needs an end",
                "write the last day that it holds: 'expires = 2027-03-31', or 'expires = never'")
        }
        let (lastDay, isExpired) = try lastDay(expiry)
        policy.suppressions.append(
            Suppression(
                line: section.place.line, target: try target(given, section.place),
                reason: reason.shownOfPolicy, owner: given[.owner]?.value?.shownOfPolicy,
                lastDay: lastDay,
                isExpired: isExpired))
    }

    private func target(
        _ given: [SuppressionName: SettingLines.Setting], _ place: SettingLines.Place
    ) throws(Failure) -> Suppression.Target {
        if let fingerprint = given[.fingerprint] {
            let names: [SuppressionName] = [.rule, .service, .path, .field]
            guard !names.contains(where: { given[$0] != nil }) else {
                throw invalid(
                    fingerprint.place, "a fingerprint says the rule and the place already",
                    "leave out either the fingerprint or the rest")
            }
            let text = fingerprint.value?.lowercased() ?? ""
            guard text.utf8.count == 32, text.utf8.allSatisfy({ $0.hexDigitValue != nil }) else {
                throw invalid(
                    fingerprint.valuePlace, "a fingerprint has 32 hexadecimal digits",
                    "the JSON report has it: 'sallyport check CAPTURE --json'")
            }
            return .fingerprint(text)
        }
        guard let rule = given[.rule], let service = given[.service]?.value else {
            throw invalid(
                place, "a suppression needs a rule and a service, or a fingerprint",
                "for a rule that is never to fail write '[gate]', then 'RULE = never'")
        }
        return .place(
            Suppression.Place(
                rule: try word(rule.value ?? "", at: rule.valuePlace, of: RuleID.self, "rule"),
                service: service.lowercased(), path: given[.path]?.value,
                field: given[.field]?.value))
    }

    /// A day as `2027-03-31`, which holds to its end in UTC, or `never`.
    private func lastDay(
        _ setting: SettingLines.Setting
    ) throws(Failure) -> (text: String?, isExpired: Bool) {
        let text = setting.value ?? ""
        if text == "never" { return (nil, false) }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy(\.isASCIIDigit) ? Int(part) : nil
        }
        guard parts.map(\.utf8.count) == [4, 2, 2], numbers.count == 3 else {
            throw noDay(setting, text)
        }
        let start = CalendarTime.secondsSinceEpoch(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: 0, minute: 0, second: 0)
        let day = CalendarTime(secondsSinceEpoch: start)
        guard [day.year, day.month, day.day] == numbers else { throw noDay(setting, text) }
        return (text, now >= Timestamp(microseconds: (start + 86_400) * 1_000_000))
    }

    private func noDay(_ setting: SettingLines.Setting, _ text: String) -> Failure {
        invalid(
            setting.valuePlace, "'\(text)' is no day",
            "write the last day that it holds like 2027-03-31, or 'never'")
    }

    // MARK: Values

    private func value(of setting: SettingLines.Setting) throws(Failure) -> String {
        guard let value = setting.value, !value.isEmpty else {
            throw invalid(
                setting.place, "'\(setting.name)' has no value", "write '\(setting.name) = VALUE'")
        }
        return value
    }

    private func number(
        _ setting: SettingLines.Setting, from least: Int64
    ) throws(Failure) -> Int64 {
        let value = try value(of: setting)
        guard let number = Int64(value), number >= least else {
            throw invalid(
                setting.valuePlace, "a number from \(least) is needed, not '\(value)'", nil)
        }
        return number
    }

    private func host(_ setting: SettingLines.Setting) throws(Failure) -> HostPattern {
        let value = try value(of: setting)
        guard let pattern = HostPattern(Array(value.utf8)) else {
            throw invalid(
                setting.valuePlace, "'\(value)' is no host",
                "write it like api.shop.example, or *.shop.example for a whole domain")
        }
        return pattern
    }

    /// `high`, `low tentative` or `never`.
    private func level(_ setting: SettingLines.Setting) throws(Failure) -> FindingsGate.Level {
        let text = try value(of: setting)
        if text == "never" { return FindingsGate.Level(nil) }
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count <= 2 else {
            throw invalid(
                setting.valuePlace, "a severity and a confidence are needed, not '\(text)'",
                "write it like 'high', 'low tentative' or 'never'")
        }
        let severity = try word(
            words.first ?? "", at: setting.valuePlace, of: Severity.self, "severity")
        let confidence: Confidence =
            words.count < 2
            ? .firm
            : try word(words[1], at: setting.valuePlace, of: Confidence.self, "confidence")
        return FindingsGate.Level(severity, confidence)
    }

    private func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, at place: SettingLines.Place, of words: Word.Type, _ noun: String
    ) throws(Failure) -> Word where Word.RawValue == String {
        if let word = Word(rawValue: text) { return word }
        let all = Word.allCases.map(\.rawValue)
        let nearest = NearestName.find(String(text.prefix(64)), among: all)
        let others =
            all.count > 10 ? "'sallyport explain' lists them" : "there are \(Self.inWords(words))"
        throw invalid(
            place, "there is no \(noun) '\(text)'",
            nearest.map { "did you mean '\($0)'?" } ?? others)
    }

    private static func inWords<Word: RawRepresentable & CaseIterable>(
        _ words: Word.Type
    ) -> String where Word.RawValue == String {
        Word.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private func twice(_ setting: SettingLines.Setting) -> Failure {
        invalid(setting.place, "'\(setting.name)' is given twice", "leave one of both out")
    }

    private func invalid(
        _ place: SettingLines.Place, _ detail: String, _ hint: String?
    ) -> Failure {
        Failure(
            "policy-invalid", party: .tool, "\(policy.path):\(place): \(detail.shownOfPolicy)",
            hint: hint?.shownOfPolicy ?? "Documentation/findings.md describes the file")
    }

    private static let countLimit = 1024
}

extension String {
    /// The text as messages and reports repeat it: short, and nothing that acts on a terminal.
    var shownOfPolicy: String {
        // A character may have any number of scalars.
        String(String.UnicodeScalarView(unicodeScalars.prefix(300))).withoutUnseen
    }
}
