package import Base

/// What a proxy says once it listens: where, whom to trust, and where it records.
package struct ReadyMessage: Sendable {
    /// The address that was bound, with its real port.
    package let listen: HostPort
    /// The origin of reverse mode, `nil` for an explicit proxy.
    package let origin: HostPort?
    /// The path of the certificate authority's certificate.
    package let authority: String
    /// The path of the capture.
    package let capture: String
    package let processID: Int32
    /// Where the content server beside it is, `nil` if there is none.
    package let content: JSONText?

    package init(
        listen: HostPort, origin: HostPort?, authority: String, capture: String, processID: Int32,
        content: JSONText? = nil
    ) {
        self.listen = listen
        self.origin = origin
        self.authority = authority
        self.capture = capture
        self.processID = processID
        self.content = content
    }

    /// The line for programs, in the schema `sallyport.ready/1`, with its line end.
    package var json: [UInt8] {
        var members = [
            JSONText.Member("schema", "sallyport.ready/1"),
            JSONText.Member("listen", .string(listen.description)),
            JSONText.Member("ca", .string(authority)),
            JSONText.Member("capture", .string(capture)),
            JSONText.Member("pid", .integer(Int64(processID))),
        ]
        if let content { members.append(JSONText.Member("content", content)) }
        return JSONText.object(members).line + [UInt8(ascii: "\n")]
    }

    /// The lines for people.
    package var text: String {
        let mode = origin.map { "in front of https://\($0)" } ?? "an explicit proxy"
        return """
            listening on \(listen), \(mode)
            CA certificate: \(TerminalText.sanitized(authority))
            to trust it for one command:
              \(TerminalText.sanitized(curl))
            capture: \(TerminalText.sanitized(capture))

            """
    }

    private var curl: String {
        let file = shellQuoted(authority)
        guard let origin else {
            return "curl --proxy http://\(listen.reachable) --cacert \(file) https://example.com/"
        }
        let target = "\(origin):\(listen.reachable)"
        return "curl --connect-to \(target) --cacert \(file) https://\(origin)/"
    }
}

/// The text as one word of a POSIX shell, in quotes if it needs them.
func shellQuoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        byte.isASCIILetter || byte.isASCIIDigit || "/._-+:@%,".utf8.contains(byte)
    }
    if isPlain, !text.isEmpty { return text }
    return "'"
        + text.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''") + "'"
}
