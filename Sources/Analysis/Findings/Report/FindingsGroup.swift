/// The findings of one rule.
struct FindingsGroup {
    let rule: RuleID
    /// By service and place.
    let findings: [Finding]

    /// The services, each once.
    var services: [String] {
        var services: [String] = []
        for finding in findings where services.last != finding.party.text {
            services.append(finding.party.text)
        }
        return services
    }

    /// Findings by their rules, in the order in which these come first.
    static func byRule(_ findings: [Finding]) -> [FindingsGroup] {
        var order: [RuleID] = []
        var groups: [RuleID: [Finding]] = [:]
        for finding in findings {
            if groups[finding.rule] == nil { order.append(finding.rule) }
            groups[finding.rule, default: []].append(finding)
        }
        return order.map { rule in
            FindingsGroup(
                rule: rule,
                findings: (groups[rule] ?? []).sorted { left, right in
                    left.orderInGroup.lexicographicallyPrecedes(right.orderInGroup)
                })
        }
    }
}

extension Finding {
    fileprivate var orderInGroup: [String] {
        [party.text, urlTemplate.text, method?.rawValue ?? "", selector?.text ?? "", fingerprint]
    }
}
