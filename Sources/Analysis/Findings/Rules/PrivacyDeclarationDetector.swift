internal import Base

/// PRIV-DECL: data that is collected and trackers that are asked, against what the app declares.
struct PrivacyDeclarationDetector {
    private struct Sight {
        let sighting: Sighting
        var confidence: Confidence
    }

    private var types: [DataType: Sight] = [:]
    private var trackers: [ServiceName: (sighting: Sighting, hasIdentifier: Bool)] = [:]

    mutating func examine(_ view: ExchangeView, _ evidence: RunEvidence) {
        guard let manifest = evidence.manifest else { return }
        for value in view.personalValues where !value.isHarmless {
            let type = value.kind.dataType
            if let known = types[type] {
                types[type]?.confidence = max(known.confidence, value.confidence)
            } else {
                types[type] = Sight(sighting: evidence.sighting, confidence: value.confidence)
            }
        }
        guard view.tracker != nil, !manifest.declares(view.host) else { return }
        let hasIdentifier = view.personalValues.contains { $0.kind.isIdentifier && !$0.isHarmless }
        if let known = trackers[view.service] {
            trackers[view.service]?.hasIdentifier = known.hasIdentifier || hasIdentifier
        } else if trackers.count < Self.limit {
            trackers[view.service] = (evidence.sighting, hasIdentifier)
        }
    }

    func finish(_ manifest: PrivacyManifest?) -> [LateMatch] {
        guard let manifest else { return [] }
        var found: [LateMatch] = []
        for type in DataType.allCases {
            if let sight = types[type], !manifest.dataTypes.contains(type) {
                var match = LateMatch(
                    .privacyDeclaration, .high, min(sight.confidence, .firm),
                    at: sight.sighting.ofService)
                match.notes = [.privacy(.undeclared(type))]
                found.append(match)
            } else if types[type] == nil, type.isSought, manifest.dataTypes.contains(type) {
                var match = LateMatch(
                    .privacyDeclaration, .info, .certain, at: .ofRun(at: Timestamp(microseconds: 0))
                )
                match.notes = [.privacy(.declaredUnseen(type))]
                found.append(match)
            }
        }
        for (_, tracker) in trackers {
            // A service that only measures need not be declared as one for tracking.
            var match = LateMatch(
                .privacyDeclaration, tracker.hasIdentifier ? .high : .medium,
                tracker.hasIdentifier ? .firm : .tentative, at: tracker.sighting.ofService)
            match.notes = [.privacy(.undeclaredTracker)]
            found.append(match)
        }
        return found
    }

    private static let limit = 1024
}

extension RuleText {
    static let privacyDeclaration = RuleText(
        title: "Data or tracker that the privacy manifest does not declare",
        reason: "users and the store are told something else than what the app does",
        advice: "declare it in PrivacyInfo.xcprivacy, or stop sending it",
        decision:
            "A data type that ID-* and PII-* rules found is not among NSPrivacyCollectedDataTypes of"
            + " --privacy-manifest, or a known tracker is not among NSPrivacyTrackingDomains (OWASP"
            + " MASTG-TEST-0206, -0281).",
        exceptions:
            "A tracker that got no identifier may only measure, so it is tentative. Declared types"
            + " that were not seen are info: the run may not have come that far.",
        worst: .high,
        weaknesses: [359])
}
