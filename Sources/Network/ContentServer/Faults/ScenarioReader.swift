internal import Base

/// Reads the file of a scenario, section by section.
struct ScenarioReader {
    private let path: String
    private var rules: [Scenario.Rule] = []

    init(path: String) {
        self.path = path
    }

    mutating func read(_ bytes: [UInt8]) throws(Failure) -> Scenario {
        let lines: SettingLines
        do throws(SettingLines.Violation) {
            lines = try SettingLines(bytes)
        } catch {
            throw invalid(error.place, "expected 'name = value' or '[rule]'", nil)
        }
        for section in lines.sections {
            guard section.name != nil else {
                guard let stray = section.settings.first else { continue }
                throw invalid(
                    stray.place, "'\(stray.name)' stands in no rule", "begin one with '[rule]'")
            }
            try readRule(section)
        }
        return Scenario(rules)
    }

    private enum Name: String, CaseIterable {
        case name, host, path, method, range, reaches, turn, odds, fault
    }

    private mutating func readRule(_ section: SettingLines.Section) throws(Failure) {
        guard section.name == "rule" else {
            throw invalid(section.place, "there is no section '\(section.name ?? "")'", nil)
        }
        guard rules.count < Self.limit else {
            throw invalid(section.place, "more than \(Self.limit) rules", nil)
        }
        var rule = Scenario.Rule(name: "rule \(rules.count + 1)")
        var given: Set<Name> = []
        for setting in section.settings {
            guard let name = Name(rawValue: setting.name) else {
                let near = NearestName.find(setting.name, among: Name.allCases.map(\.rawValue))
                throw invalid(
                    setting.place, "there is no setting '\(setting.name)'",
                    near.map { "did you mean '\($0)'?" })
            }
            guard given.insert(name).inserted || name == .fault else {
                throw invalid(setting.place, "'\(setting.name)' is there twice", nil)
            }
            guard let value = setting.value, !value.isEmpty else {
                throw invalid(setting.place, "'\(setting.name)' needs a value", nil)
            }
            try set(name, value, at: setting.valuePlace, of: &rule)
        }
        guard !rule.faults.isEmpty else {
            throw invalid(section.place, "a rule needs a fault", "such as 'fault = cut:400000'")
        }
        guard !rules.contains(where: { $0.name == rule.name }) else {
            throw invalid(section.place, "two rules have the name '\(rule.name)'", nil)
        }
        rules.append(rule)
    }

    private func set(
        _ name: Name, _ value: String, at place: SettingLines.Place, of rule: inout Scenario.Rule
    ) throws(Failure) {
        switch name {
        case .name: rule.name = value
        case .host, .path:
            guard value.utf8.count <= Self.patternLimit else {
                throw invalid(place, "a pattern of more than \(Self.patternLimit) bytes", nil)
            }
            guard name == .path else {
                rule.host = value.lowercased()
                return
            }
            guard value.hasPrefix("/") || value.hasPrefix("*") else {
                throw invalid(
                    place, "a path begins with '/' or '*', not '\(value)'",
                    "did you mean '/\(value)'?")
            }
            rule.path = value
        case .method: rule.methods = try methods(value, place)
        case .range:
            guard value == "yes" || value == "no" else {
                throw invalid(place, "range is 'yes' or 'no', not '\(value)'", nil)
            }
            rule.asksForRange = value == "yes"
        case .reaches:
            guard let byte = decimal([UInt8](value.utf8)), byte > 0 else {
                throw invalid(place, "reaches is a number of bytes, not '\(value)'", nil)
            }
            rule.reachedByte = byte
        case .turn: rule.turn = try turn(value, place)
        case .odds:
            guard value.last == "%", let percent = decimal([UInt8](value.dropLast().utf8)),
                percent <= 100
            else { throw invalid(place, "odds are a share such as '25%', not '\(value)'", nil) }
            rule.odds = percent * 10
        case .fault:
            do throws(FaultViolation) {
                rule.faults += try FaultVerb.faults(value)
            } catch {
                throw invalid(place, error.detail, error.hint)
            }
            guard rule.faults.count <= FaultVerb.limit else {
                throw invalid(place, "more than \(FaultVerb.limit) faults in a rule", nil)
            }
        }
    }

    /// Reads words between spaces, commas or both.
    private func methods(
        _ text: String, _ place: SettingLines.Place
    ) throws(Failure) -> [String] {
        let words = text.split { ", \t".contains($0) }
        for word in words where !word.utf8.allSatisfy(Self.isMethodByte) {
            let columns = text.distance(from: text.startIndex, to: word.startIndex)
            let upper = word.uppercased()
            throw invalid(
                "\(place.line):\(place.column + columns)", "'\(word)' is no method",
                upper != word && upper.utf8.allSatisfy(Self.isMethodByte)
                    ? "did you mean '\(upper)'?" : nil)
        }
        guard !words.isEmpty else { throw invalid(place, "there is no method in '\(text)'", nil) }
        return words.map(String.init)
    }

    /// A token may have more (RFC 9110 §9.1), but no registered method has, and a request's is
    /// compared with its case.
    private static func isMethodByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "-")
    }

    private func turn(
        _ text: String, _ place: SettingLines.Place
    ) throws(Failure) -> Scenario.Turn {
        let words = text.split(separator: " ")
        let number = words.count == 2 ? decimal([UInt8](words[1].utf8)) : nil
        if words.count == 1 || number.map({ $0 > 0 }) == true {
            switch (words[0], number) {
            case ("every", nil): return .every
            case ("first", _): return .first(number ?? 1)
            case ("nth", let number?): return .nth(number)
            case ("from", let number?): return .from(number)
            case ("each", let number?): return .each(number)
            default: break
            }
        }
        throw invalid(
            place, "there is no turn '\(text)'",
            "'every', 'first', 'first 2', 'nth 3', 'from 4' or 'each 5'")
    }

    private func invalid(
        _ place: some CustomStringConvertible, _ detail: String, _ hint: String?
    ) -> Failure {
        Failure(
            "scenario-invalid", party: .tool, "\(path):\(place): \(detail)",
            hint: hint ?? "Documentation/content-server.md describes the file")
    }

    private static let limit = 1000
    /// In bytes.
    private static let patternLimit = 1024
}
