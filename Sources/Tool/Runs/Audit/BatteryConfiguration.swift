package import Audit

/// What a battery tries, and on whom.
package struct BatteryConfiguration: Sendable {
    package let kind: BatteryKind
    package let command: [String]
    /// For one run of the command.
    package var timeout = Duration.seconds(30)
    package var clientName: String?
    package var source: String?
    package var toolVersion = ""

    package init(_ kind: BatteryKind, command: [String]) {
        self.kind = kind
        self.command = command
    }

    /// What the command lacks to be tried; `nil` for nothing.
    package var missing: String? {
        kind.placeholders.first { name in !command.contains { $0.contains(name) } }
    }

    var client: String {
        clientName ?? command.first?.split(separator: "/").last.map(String.init) ?? "client"
    }
}
