internal import Base
internal import Confinement
internal import Runs

extension CoverageReport {
    var text: String {
        var lines: [String] = []
        if let confinementFailure {
            lines.append("not leak-proof: \(confinementFailure.detail)")
            if let hint = confinementFailure.hint { lines.append("hint: \(hint)") }
        } else {
            lines.append("leak-proof: the command had no way out but the proxy")
        }
        lines += limits.map(\.text)
        lines += attempts.map { "tried: \($0.text)" }
        if unlisted > 0 { lines.append("tried: \(unlisted) datagrams more, which were refused") }
        if serviceQuestions > 0 {
            lines.append(
                "asked for HTTPS records \(serviceQuestions) times; none was given, so that clients"
                    + " stay off HTTP/3")
        }
        for (item, count) in undecrypted {
            let connections = count == 1 ? "1 connection" : "\(count) connections"
            lines.append("not decrypted: \(item.host), \(connections): \(item.reason)")
        }
        if !leftRunning.isEmpty {
            let programs = leftRunning.joined(separator: ", ")
            lines.append("left running by the command, and cut off from the network: \(programs)")
        }
        return lines.map { "sallyport: \(TerminalText.sanitized($0))\n" }.joined()
    }
}
