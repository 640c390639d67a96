/// Writes the frames of one side of a WebSocket, and packs its messages if that was agreed on
/// (RFC 7692 §7.2.1).
///
/// Not `Sendable`: one task uses it.
package final class WebSocketMessageWriter {
    private let windowBits: UInt8
    private let resetsContext: Bool
    private let compresses: Bool
    /// Made for the first message that is packed.
    private var deflater: DeflateSession?

    /// - Parameters:
    ///   - role: who sends what it writes.
    ///   - extensions: what the handshake agreed on, `nil` if there is no compression.
    package init(role: WebSocketRole, extensions: PerMessageDeflate?) {
        let agreed = extensions ?? PerMessageDeflate()
        let isClient = role == .client
        windowBits = isClient ? agreed.clientWindowBits : agreed.serverWindowBits
        resetsContext = isClient ? agreed.clientResets : agreed.serverResets
        // Messages may go unpacked (RFC 7692 §6), which those do that zlib has no window for.
        compresses = extensions != nil && windowBits >= Self.shortestWindow
    }

    private static let shortestWindow: UInt8 = 9

    /// Appends a message in one frame, or a control frame but for a close.
    package func write(
        _ opcode: WebSocketOpcode, _ content: Span<UInt8>, maskingKey: UInt32?,
        into output: inout [UInt8]
    ) {
        guard compresses, !opcode.isControl else {
            return WebSocketWriter.write(opcode, content, maskingKey: maskingKey, into: &output)
        }
        let packed = packed(content)
        WebSocketWriter.write(
            opcode, packed.span, isCompressed: true, maskingKey: maskingKey, into: &output)
    }

    private func packed(_ content: Span<UInt8>) -> [UInt8] {
        // zlib does not flush nothing; RFC 7692 §7.2.3.6 spells it.
        guard !content.isEmpty else { return [0x00] }
        let deflater = deflater ?? DeflateSession(level: 6, .raw(windowBits: windowBits))
        self.deflater = deflater
        if resetsContext { deflater.reset() }
        var packed: [UInt8] = []
        deflater.encode(content, .sync, into: &packed)
        packed.removeLast(Self.tailLength)
        return packed
    }

    /// Of 00 00 FF FF, which every flush ends with.
    private static let tailLength = 4
}
