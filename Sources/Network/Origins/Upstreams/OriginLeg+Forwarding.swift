internal import Base
internal import Negotiation

extension OriginLeg {
    /// A request's head as it goes over this connection: to a proxy that forwards it with the whole
    /// URL (RFC 9112 §3.2.2) and the proxy's login.
    ///
    /// - Parameter head: of HTTP/1 with a path as its target, through the empty line.
    package func sentHead(_ head: [UInt8]) -> [UInt8] {
        guard let forwarder, let space = head.firstIndex(of: UInt8(ascii: " ")),
            let lineEnd = head.firstIndex(of: UInt8(ascii: "\n"))
        else { return head }
        var sent = [UInt8](head[...space])
        sent += target.origin.utf8
        sent += head[(space + 1)...lineEnd]
        if let credential = forwarder.credential {
            let login = Base64.encode(credential.basicBytes)
            sent += "Proxy-Authorization: Basic \(login)\r\n".utf8
        }
        sent += head[(lineEnd + 1)...]
        return sent
    }
}
