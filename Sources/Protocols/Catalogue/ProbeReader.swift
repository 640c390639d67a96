package import Base
internal import TLS

/// Reads one file of the catalogue; what it does not know it refuses.
package enum ProbeReader {
    /// Reads a file that the description names, as it names it.
    package typealias FileReading = (_ name: String) throws(Failure) -> [UInt8]

    /// - Parameters:
    ///   - path: for errors, and for the identifier: the file's name without `.probe`.
    ///   - files: what the file may name others in; none, unless it is given.
    ///
    /// Errors: `catalogue-invalid`, which names the file and the line.
    package static func read(
        _ bytes: [UInt8], path: String, files: FileReading = noFiles
    ) throws(Failure) -> ProbeDescription {
        do {
            return try read(try ProbeText(bytes), identifier: identifier(path), files)
        } catch {
            throw Failure(
                "catalogue-invalid", party: .tool, "\(path):\(error.line): \(error.what)")
        }
    }

    private static func noFiles(_ name: String) throws(Failure) -> [UInt8] {
        throw Failure("file-unreadable", party: .tool, "a probe of the tool's own has no files")
    }

    private static func identifier(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".probe") ? String(name.dropLast(6)) : name
    }

    private static func read(
        _ text: ProbeText, identifier: String, _ files: FileReading
    ) throws(ProbeViolation) -> ProbeDescription {
        let families = ProbeFamily.allCases.map(\.rawValue)
        guard let family = families.first(where: { identifier.hasPrefix($0 + "-") }),
            let known = ProbeFamily(rawValue: family)
        else {
            throw ProbeViolation(
                1,
                "the name '\(identifier)' has no family, expected one that begins with "
                    + "\(families.joined(separator: "-, "))-")
        }
        var probe = ProbeDescription(identifier: identifier, family: known)
        probe.expectation = known == .control ? .accept : .refuse
        probe.weaknesses = known.weaknesses
        probe.controls = known.controls
        probe.fix = known.fix
        var seen = Set<String>()
        // First, since others take their defaults from it.
        for field in text.fields where field.key == "expectation" {
            probe.expectation = try value(field)
        }
        probe.severity = probe.expectation.severity
        probe.profile = probe.expectation == .refuse ? .standard : .full
        for field in text.fields {
            guard seen.insert(field.key).inserted else {
                throw ProbeViolation(field.line, "'\(field.key)' is there twice")
            }
            try read(field, into: &probe)
            if field.key == "trust-file" { probe.trustAnchors = try anchors(field, files) }
        }
        for key in ["title", "reason"] where !seen.contains(key) {
            throw ProbeViolation(1, "'\(key)' is missing, expected '\(key): …' before the sections")
        }
        try check(probe, text)
        if probe.showsCertificates, text.sections.isEmpty {
            let line = text.fields.first { $0.key == "behaviour" }?.line ?? 1
            throw ProbeViolation(
                line, "a probe shows a certificate, expected a section such as '[leaf]'")
        }
        probe.chain = try RecipeReader.read(text.sections, files)
        probe.requirements.formUnion(requirements(of: probe.chain))
        // Who is not told whom to trust refuses for that.
        if probe.hasOwnAnchors { probe.requirements.insert(.authority) }
        return probe
    }

    /// Whether a passive probe says what it looks for, and shows nothing.
    private static func check(_ probe: ProbeDescription, _ text: ProbeText) throws(ProbeViolation) {
        let isPassive = probe.trait != nil
        guard probe.family == .passive ? isPassive : !isPassive || probe.family == .plaintext else {
            let line = text.fields.first { $0.key == "observes" }?.line ?? 1
            throw ProbeViolation(
                line,
                "a probe of passive has 'observes: …', one of plaintext may, with one of "
                    + ClientTrait.allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard isPassive else { return }
        let shown = text.fields.first {
            ["behaviour", "requirements", "trust-file", "host"].contains($0.key)
        }?.line
        if let line = shown ?? text.sections.first?.line {
            throw ProbeViolation(
                line,
                "a passive probe shows nothing, expected no behaviour, requirement or section")
        }
    }

    private static func read(
        _ field: ProbeText.Field, into probe: inout ProbeDescription
    ) throws(ProbeViolation) {
        switch field.key {
        case "expectation", "trust-file": break
        case "host": probe.host = try host(field)
        case "title": probe.title = field.value
        case "severity": probe.severity = try value(field)
        case "requirements":
            for word in field.value.listed {
                probe.requirements.insert(try value(word, of: field))
            }
        case "profile": probe.profile = try value(field)
        case "order": probe.order = try number(field)
        case "reason": probe.reason = field.value
        case "source": probe.source = field.value
        case "history": probe.history = field.value.listed
        case "weaknesses":
            probe.weaknesses = []
            for word in field.value.listed { probe.weaknesses.append(try number(word, field)) }
        case "controls": probe.controls = field.value.listed
        case "fix": probe.fix = field.value
        case "behaviour": probe.behaviour = try value(field)
        case "observes": probe.trait = try value(field)
        default:
            throw ProbeViolation(
                field.line,
                "unknown field '\(field.key)', expected \(keys.joined(separator: ", "))")
        }
    }

    private static let keys = [
        "title", "expectation", "severity", "requirements", "profile", "order", "reason", "source",
        "history", "weaknesses", "controls", "fix", "behaviour", "observes", "host", "trust-file",
    ]

    /// The certificates of files that a user has put beside the description.
    private static func anchors(
        _ field: ProbeText.Field, _ files: FileReading
    ) throws(ProbeViolation) -> [UInt8] {
        var anchors: [UInt8] = []
        for name in field.value.listed {
            do throws(Failure) {
                let bytes = try files(name)
                guard !(try Certificate.all(inPEM: bytes, name: name)).isEmpty else {
                    throw Failure("certificate-invalid", party: .tool, "no certificate in the file")
                }
                anchors += bytes + [0x0A]
            } catch {
                throw ProbeViolation(field.line, "trust-file '\(name)': \(error.detail)")
            }
        }
        guard !anchors.isEmpty else {
            throw ProbeViolation(field.line, "'trust-file' names no file")
        }
        return anchors
    }

    /// A name or an address, as the client is given it.
    private static func host(_ field: ProbeText.Field) throws(ProbeViolation) -> String {
        let host = field.value.lowercased()
        let isPlain = host.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && !"/?#@[]\"'".utf8.contains($0)
        }
        guard isPlain, (1...253).contains(host.utf8.count) else {
            throw ProbeViolation(
                field.line, "'\(field.value)' is no host, expected a name or an address")
        }
        return host
    }

    /// What a chain cannot be made, or says nothing, without.
    private static func requirements(of chain: [CertificateRecipe]) -> Set<ProbeRequirement> {
        var found = Set<ProbeRequirement>()
        for recipe in chain {
            switch recipe.origin {
            case .made, .unknownRoot, .file: break
            case .copyOfLeaf, .copyOfChain, .genuineChain, .genuineIssuers:
                found.insert(.originChain)
            case .authority: found.insert(.authority)
            }
            let isIssued =
                switch recipe.origin {
                case .made, .copyOfLeaf, .copyOfChain: true
                case .genuineChain, .genuineIssuers, .authority, .unknownRoot, .file: false
                }
            let isLikeAuthority =
                recipe.subject == .ofAuthority || recipe.key == .authorityPoint
            if isIssued, recipe.issuer == .authority || isLikeAuthority {
                found.insert(.authority)
            }
        }
        return found
    }

    // MARK: Values

    /// The value of a field that has one of a few.
    static func value<Value: RawRepresentable & CaseIterable>(
        _ field: ProbeText.Field
    ) throws(ProbeViolation) -> Value where Value.RawValue == String {
        try value(field.value, of: field)
    }

    static func value<Value: RawRepresentable & CaseIterable>(
        _ word: String, of field: ProbeText.Field
    ) throws(ProbeViolation) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: word) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw ProbeViolation(field.line, "unknown \(field.key) '\(word)', expected \(known)")
        }
        return value
    }

    static func number(_ field: ProbeText.Field) throws(ProbeViolation) -> Int {
        try number(field.value, field)
    }

    private static func number(
        _ word: String, _ field: ProbeText.Field
    ) throws(ProbeViolation) -> Int {
        guard let number = Int(word), (0...1_000_000).contains(number) else {
            throw ProbeViolation(
                field.line, "'\(word)' is no \(field.key), expected a number from 0 to 1000000")
        }
        return number
    }
}

extension ProbeDescription {
    /// Whether a client cannot be shown it without a certificate of its own.
    fileprivate var showsCertificates: Bool {
        guard trait == nil else { return false }
        switch behaviour {
        // goto-fail shows the origin's if it has none.
        case .anonymous, .gotoFail, .httpOnTLSPort, .refuseTLS, .stripStartTLS, .preauthenticated:
            return false
        default: return true
        }
    }
}

extension Expectation {
    /// Unless a file says otherwise.
    fileprivate var severity: Severity {
        switch self {
        case .refuse: .high
        case .warn: .low
        case .accept, .inform: .info
        }
    }
}
