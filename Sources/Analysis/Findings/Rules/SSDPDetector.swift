internal import Base
internal import Logins
internal import Traffic

/// LAN-SSDP: devices looked for or announced by UPnP.
enum SSDPDetector {
    static func examine(_ connection: ConnectionRecord, _ view: MessageView?) -> [RuleMatch] {
        guard connection.protocolName == "ssdp", let view else { return [] }
        var targets: [[UInt8]] = []
        for message in view.messages.prefix(messageLimit) where message.direction == .request {
            guard let target = target(message.bytes), !targets.contains(target),
                targets.count < targetLimit
            else { continue }
            targets.append(target)
        }
        return targets.map { target in
            var result = RuleMatch(.ssdp, .medium, .certain)
            result.place = .service
            result.container = .dialogue
            result.name = target
            return result
        }
    }

    /// What is looked for, or announced (UPnP Device Architecture §1.2.2, §1.3.2).
    private static func target(_ bytes: [UInt8]) -> [UInt8]? {
        var cursor = ByteCursor(bytes[...])
        guard let start = cursor.line(),
            start.starts(with: "M-SEARCH ".utf8) || start.starts(with: "NOTIFY ".utf8)
        else { return nil }
        for _ in 0..<lineLimit {
            guard let line = cursor.line(), let colon = line.prefix(16).firstIndex(of: 0x3A) else {
                continue
            }
            let name = line[..<colon].lowercasedBytes.text
            if name == "st" || name == "nt" { return Array(line[(colon + 1)...]).trimmed }
        }
        return Array("M-SEARCH".utf8)
    }

    private static let lineLimit = 32
    private static let messageLimit = 256
    private static let targetLimit = 8
}

extension RuleText {
    static let ssdp = RuleText(
        title: "Devices looked for by UPnP",
        reason:
            "every device that answers tells its model and its address; what is at home identifies"
            + " and describes the user",
        advice: "look for the one kind of device that is needed, once the user asks for it",
        decision:
            "The client sent M-SEARCH or NOTIFY of SSDP (UPnP Device Architecture 2.0 §1.2, §1.3).",
        exceptions:
            "Answers to it. In packets of a whole network, each sender is a client.",
        worst: .medium,
        weaknesses: [])
}
