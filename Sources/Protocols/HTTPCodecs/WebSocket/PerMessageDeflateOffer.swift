/// What a client offers with the extension permessage-deflate: one or more alternatives (RFC 7692
/// §5.1).
package struct PerMessageDeflateOffer: Sendable {
    private struct Alternative {
        let values: PerMessageDeflate
        let named: Set<PerMessageDeflate.Parameter>
    }

    /// The value of a request's Sec-WebSocket-Extensions that makes the offer.
    package let field: [UInt8]
    private let alternatives: [Alternative]

    /// Reads the value of a request's Sec-WebSocket-Extensions; several fields are joined with
    /// commas. Other extensions, and alternatives that a server must decline, are left out.
    ///
    /// - Returns: `nil` if nothing is left.
    package init?(requestField value: ArraySlice<UInt8>) {
        var texts: [ArraySlice<UInt8>] = []
        var alternatives: [Alternative] = []
        for element in PerMessageDeflate.elements(of: value) where element.isDeflate {
            let read = PerMessageDeflate.read(element.parameters, isOffer: true)
            guard let read, texts.count < Self.alternativeLimit else { continue }
            texts.append(element.text)
            alternatives.append(Alternative(values: read.values, named: read.named))
        }
        guard !texts.isEmpty else { return nil }
        field = Array(texts.joined(separator: [0x2C, 0x20]))
        self.alternatives = alternatives
    }

    /// Clients have two.
    private static let alternativeLimit = 16

    /// Reads the value of a response's Sec-WebSocket-Extensions that answers the offer.
    ///
    /// - Returns: what was agreed on, with a window of the client that is no longer than it offered
    ///   where the answer names none; `nil` if the client must break off (RFC 6455 §4.1, RFC 7692
    ///   §7.1).
    package func agreement(inResponse value: ArraySlice<UInt8>) -> PerMessageDeflate? {
        let elements = PerMessageDeflate.elements(of: value)
        guard elements.count == 1, elements[0].isDeflate,
            let agreed = PerMessageDeflate.read(elements[0].parameters)
        else { return nil }
        let answered = alternatives.first { offered in
            (agreed.values.serverResets || !offered.values.serverResets)
                && agreed.values.serverWindowBits <= offered.values.serverWindowBits
                && (!agreed.named.contains(.clientWindow)
                    || offered.named.contains(.clientWindow)
                        && agreed.values.clientWindowBits <= offered.values.clientWindowBits)
        }
        guard let answered else { return nil }
        var values = agreed.values
        values.clientWindowBits = min(values.clientWindowBits, answered.values.clientWindowBits)
        return values
    }
}
