internal import Base
internal import TLS

/// Reads the sections of a probe's file, each a certificate.
enum RecipeReader {
    static func read(
        _ sections: [ProbeText.Section], _ files: ProbeReader.FileReading
    ) throws(ProbeViolation) -> [CertificateRecipe] {
        var recipes: [CertificateRecipe] = []
        for (index, section) in sections.enumerated() {
            var recipe = CertificateRecipe(
                name: section.name, role: index == 0 ? .leaf : .authority)
            try read(section, into: &recipe)
            try readFiles(section, into: &recipe, files)
            recipes.append(recipe)
        }
        for (index, section) in sections.enumerated() {
            recipes[index].issuer = try issuer(of: index, section, recipes)
        }
        if let first = recipes.first, !first.hasKey, let line = sections.first?.line {
            throw ProbeViolation(
                line,
                "the first certificate has no key of ours, expected one that is made, "
                    + "'copy: …' or 'key-file: …'")
        }
        return recipes
    }

    private static func read(
        _ section: ProbeText.Section, into recipe: inout CertificateRecipe
    ) throws(ProbeViolation) {
        var seen = Set<String>()
        for field in section.fields {
            let isFirst = seen.insert(field.key).inserted
            guard isFirst || repeatable.contains(field.key) else {
                throw ProbeViolation(
                    field.line, "'\(field.key)' is there twice in [\(section.name)]")
            }
            if try readOrigin(field, into: &recipe) { continue }
            if try readNames(field, into: &recipe) { continue }
            guard try readExtension(field, into: &recipe) else {
                throw ProbeViolation(
                    field.line,
                    "unknown field '\(field.key)', expected \(keys.joined(separator: ", "))")
            }
        }
    }

    private static let repeatable: Set = [
        "subject", "issuer-name", "san", "san-series", "extension",
    ]

    private static let keys = [
        "role", "take", "copy", "chain-file", "key-file", "presented", "trusted", "issuer",
        "issuer-name",
        "key", "digest", "subject",
        "san", "san-series", "not-before", "not-after", "version", "serial", "host-labels",
        "damage", "basic-constraints", "key-usage", "extended-key-usage", "name-constraints",
        "policy-constraints", "tls-feature", "crl-distribution-points",
        "authority-information-access", "authority-key-identifier", "extension",
    ]

    // MARK: Issuers

    /// Who issues a certificate: whom its section names, else the next that has a key, else the CA.
    private static func issuer(
        of index: Int, _ section: ProbeText.Section, _ recipes: [CertificateRecipe]
    ) throws(ProbeViolation) -> CertificateRecipe.Issuer {
        guard let field = section.fields.first(where: { $0.key == "issuer" }) else {
            let next = recipes[(index + 1)...].first { $0.hasKey }
            return next.map { .named($0.name) } ?? .authority
        }
        switch field.value {
        case "authority": return .authority
        case "unknown-root": return .unknownRoot
        case "self": return .itself
        default:
            let known = recipes.filter(\.hasKey).map(\.name)
            guard known.contains(field.value) else {
                throw ProbeViolation(
                    field.line,
                    "unknown issuer '\(field.value)', expected authority, "
                        + "unknown-root, self, \(known.joined(separator: ", "))")
            }
            return .named(field.value)
        }
    }

    // MARK: Origin, key, time

    private static func readOrigin(
        _ field: ProbeText.Field, into recipe: inout CertificateRecipe
    ) throws(ProbeViolation) -> Bool {
        switch field.key {
        // Those are read together, once all others are.
        case "issuer", "chain-file", "key-file": break
        case "role": recipe.role = try ProbeReader.value(field)
        case "take":
            recipe.origin = try origin(
                field, among: [.genuineChain, .genuineIssuers, .authority, .unknownRoot])
        case "copy": recipe.origin = try origin(field, among: [.copyOfLeaf, .copyOfChain])
        case "presented": recipe.isPresented = try choice(field, "yes", "no")
        case "trusted": recipe.isTrusted = try choice(field, "yes", "no")
        case "key": recipe.key = try ProbeReader.value(field)
        case "digest": recipe.digest = try ProbeReader.value(field)
        case "damage": recipe.damage = try ProbeReader.value(field)
        case "not-before": recipe.notBefore = try moment(field)
        case "not-after": recipe.notAfter = try moment(field)
        case "version": recipe.version = try choice(field, "1", "3") ? 1 : 3
        case "serial": recipe.serial = try ProbeReader.value(field)
        case "host-labels": recipe.hostLabels = try ProbeReader.number(field)
        default: return false
        }
        return true
    }

    private static func origin(
        _ field: ProbeText.Field, among known: [CertificateRecipe.Origin]
    ) throws(ProbeViolation) -> CertificateRecipe.Origin {
        guard let origin = known.first(where: { $0.rawValue == field.value }) else {
            throw unknown(field, known.map(\.rawValue))
        }
        return origin
    }

    private static func choice(
        _ field: ProbeText.Field, _ yes: String, _ no: String
    ) throws(ProbeViolation) -> Bool {
        guard field.value == yes || field.value == no else { throw unknown(field, [yes, no]) }
        return field.value == yes
    }

    private static func unknown(_ field: ProbeText.Field, _ known: [String]) -> ProbeViolation {
        ProbeViolation(
            field.line,
            "unknown \(field.key) '\(field.value)', expected \(known.joined(separator: ", "))")
    }

    /// `-2d`, `+45d`, or a time as it is encoded: `utc 991399999999Z`.
    private static func moment(
        _ field: ProbeText.Field
    ) throws(ProbeViolation) -> CertificateRecipe.Moment {
        let words = field.value.split(separator: " ").map(String.init)
        if words.count == 2, words[0] == "utc" { return .utcTime(words[1]) }
        if words.count == 2, words[0] == "generalized" { return .generalizedTime(words[1]) }
        let digits = field.value.dropLast()
        guard field.value.hasSuffix("d"), let days = Int(digits), dayLimits.contains(days) else {
            throw ProbeViolation(
                field.line,
                "'\(field.value)' is no time, expected days from now like +45d or -2d, "
                    + "or 'utc TEXT' or 'generalized TEXT'")
        }
        return .days(days)
    }

    /// A century, with some room; `abs` would trap at the least number.
    private static let dayLimits = -40_000...40_000

    // MARK: Names

    private static func readNames(
        _ field: ProbeText.Field, into recipe: inout CertificateRecipe
    ) throws(ProbeViolation) -> Bool {
        switch field.key {
        case "subject":
            switch field.value {
            case "none": recipe.subject = .entries([])
            case "authority": recipe.subject = .ofAuthority
            default:
                var entries: [CertificateRecipe.SubjectEntry] = []
                if case .entries(let earlier) = recipe.subject { entries = earlier }
                recipe.subject = .entries(entries + [try entry(field)])
            }
        case "issuer-name":
            recipe.issuerName = (recipe.issuerName ?? []) + [try entry(field)]
        case "san": try readName(field, into: &recipe)
        case "san-series": try readSeries(field, into: &recipe)
        default: return false
        }
        return true
    }

    private static func entry(
        _ field: ProbeText.Field
    ) throws(ProbeViolation) -> CertificateRecipe.SubjectEntry {
        let parts = field.value.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, attributes.contains(parts[0]) else {
            throw ProbeViolation(
                field.line,
                "'\(field.value)' is no part of a name, expected 'CN=…' with one of "
                    + attributes.joined(separator: ", "))
        }
        return CertificateRecipe.SubjectEntry(
            attribute: parts[0], value: try text(parts[1], field))
    }

    private static let attributes = ["CN", "O", "OU", "C", "ST", "L", "emailAddress"]

    private static func readName(
        _ field: ProbeText.Field, into recipe: inout CertificateRecipe
    ) throws(ProbeViolation) {
        switch field.value {
        case "none": recipe.alternativeNames = .absent
        case "empty": recipe.alternativeNames = .names([])
        default: append([try name(field.value, field)], to: &recipe)
        }
    }

    /// `999 dns:shop-#.example`: as many names, with their numbers instead of `#`.
    private static func readSeries(
        _ field: ProbeText.Field, into recipe: inout CertificateRecipe
    ) throws(ProbeViolation) {
        let words = field.value.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2, let count = Int(words[0]), (1...10_000).contains(count) else {
            throw ProbeViolation(
                field.line,
                "'\(field.value)' is no series of names, expected a number up to 10000 "
                    + "and a name like dns:shop-#.example")
        }
        var names: [CertificateRecipe.AlternativeName] = []
        for number in 1...count {
            names.append(try name(words[1].replacing("#", with: String(number)), field))
        }
        append(names, to: &recipe)
    }

    private static func append(
        _ names: [CertificateRecipe.AlternativeName], to recipe: inout CertificateRecipe
    ) {
        var all: [CertificateRecipe.AlternativeName] = []
        if case .names(let earlier) = recipe.alternativeNames { all = earlier }
        recipe.alternativeNames = .names(all + names)
    }

    private static func name(
        _ value: String, _ field: ProbeText.Field
    ) throws(ProbeViolation) -> CertificateRecipe.AlternativeName {
        let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2,
            let kind = CertificateRecipe.AlternativeName.Kind(rawValue: parts[0])
        else {
            let kinds = CertificateRecipe.AlternativeName.Kind.allCases.map { "\($0.rawValue):…" }
            throw ProbeViolation(
                field.line,
                "'\(value)' is no alternative name, expected none, empty, "
                    + kinds.joined(separator: ", "))
        }
        return CertificateRecipe.AlternativeName(kind, try text(parts[1], field))
    }

    static func text(
        _ value: String, _ field: ProbeText.Field
    ) throws(ProbeViolation) -> RecipeText {
        do {
            return try RecipeText(value)
        } catch {
            throw ProbeViolation(field.line, error.description)
        }
    }
}

extension CertificateRecipe {
    /// Whether it has a key that can sign.
    fileprivate var hasKey: Bool {
        switch origin {
        case .made, .copyOfLeaf, .copyOfChain: true
        case .file: files?.key != nil
        case .genuineChain, .genuineIssuers, .authority, .unknownRoot: false
        }
    }
}
