/// Takes the offer of TLS 1.3 out of a ClientHello, as an attacker on the way would.
package enum ClientHelloEdit {
    /// supported_versions, key_share, psk_key_exchange_modes, pre_shared_key, early_data.
    private static let extensionsOfTLS13: Set<Int> = [43, 51, 45, 41, 42]

    /// The hello in one record; `nil` if it has no extensions or is not a message of TLS.
    ///
    /// - Parameter message: the handshake message with its header, as `ClientHello.raw`.
    package static func withoutTLS13(_ message: [UInt8]) -> [UInt8]? {
        // Header, version, random; then three lists with their lengths (RFC 8446 §4.1.2).
        var place = 4 + 2 + 32
        for width in [1, 2, 1] {
            guard let count = number(message, place, width) else { return nil }
            place += width + count
        }
        guard let total = number(message, place, 2), place + 2 + total <= message.count else {
            return nil
        }
        var kept: [UInt8] = []
        var next = place + 2
        while next < place + 2 + total {
            guard let type = number(message, next, 2), let count = number(message, next + 2, 2),
                next + 4 + count <= message.count
            else { return nil }
            if !extensionsOfTLS13.contains(type) { kept += message[next..<(next + 4 + count)] }
            next += 4 + count
        }
        let body = message[4..<place] + bytes(kept.count, 2) + kept
        let hello = [message[0]] + bytes(body.count, 3) + body
        guard hello.count <= 1 << 14 else { return nil }
        return [22, 3, 1] + bytes(hello.count, 2) + hello
    }

    private static func number(_ message: [UInt8], _ place: Int, _ width: Int) -> Int? {
        guard place + width <= message.count else { return nil }
        return message[place..<(place + width)].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func bytes(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
