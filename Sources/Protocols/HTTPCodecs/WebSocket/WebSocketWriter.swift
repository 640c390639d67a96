/// Writes frames of a WebSocket (RFC 6455 §5.2).
package enum WebSocketWriter {
    /// Appends a frame.
    ///
    /// - Parameters:
    ///   - isCompressed: sets RSV1, which says that the message is packed (RFC 7692 §6); `payload` is
    ///     what came of packing it.
    ///   - maskingKey: its first byte is the most significant one; `nil` for a server's frame.
    package static func write(
        _ opcode: WebSocketOpcode, _ payload: Span<UInt8>, isFinal: Bool = true,
        isCompressed: Bool = false, maskingKey: UInt32? = nil, into output: inout [UInt8]
    ) {
        let count = payload.count
        output.reserveCapacity(output.count + WebSocketFrameHead.sizeLimit + count)
        output.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        let maskBit: UInt8 = maskingKey == nil ? 0 : 0x80
        switch count {
        case ..<126:
            output.append(maskBit | UInt8(count))
        case ..<65_536:
            output.append(maskBit | 126)
            append(UInt64(count), width: 2, to: &output)
        default:
            output.append(maskBit | 127)
            append(UInt64(count), width: 8, to: &output)
        }
        guard let maskingKey else {
            unsafe payload.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
            return
        }
        append(UInt64(maskingKey), width: 4, to: &output)
        let start = output.count
        output.append(contentsOf: repeatElement(0, count: count))
        var mask = WebSocketMask(maskingKey.byteSwapped)
        unsafe output.withUnsafeMutableBytes { all in
            unsafe mask.apply(payload, to: UnsafeMutableRawBufferPointer(rebasing: all[start...]))
        }
    }

    /// Appends a close frame; a reason longer than fits into one is cut.
    package static func writeClose(
        code: UInt16?, reason: Span<UInt8>, maskingKey: UInt32? = nil, into output: inout [UInt8]
    ) {
        var payload: [UInt8] = []
        if let code {
            append(UInt64(code), width: 2, to: &payload)
            let count = min(reason.count, WebSocketFrameHead.controlLimit - payload.count)
            unsafe reason.extracting(0..<count).withUnsafeBufferPointer {
                unsafe payload.append(contentsOf: $0)
            }
        }
        write(.close, payload.span, maskingKey: maskingKey, into: &output)
    }

    private static func append(_ value: UInt64, width: Int, to output: inout [UInt8]) {
        for index in stride(from: width - 1, through: 0, by: -1) {
            output.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
        }
    }
}
