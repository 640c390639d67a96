package import Traffic

extension ExchangeRecord {
    /// Whether it asks for a tunnel, and for nothing that is known to be spoken inside.
    package var asksForTunnel: Bool {
        // Few have the method, and all others need no second look.
        requestHead.starts(with: "CONNECT ".utf8) && RecordedHead(requestHead).asksForTunnel
    }

    /// Whether no more HTTP is spoken behind its heads, on its stream or its connection.
    package var leavesHTTP: Bool {
        status == 101 || status / 100 == 2 && requestHead.starts(with: "CONNECT ".utf8)
    }
}
