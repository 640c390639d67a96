internal import Base
internal import Contents
internal import HTTPModel
internal import Traffic

/// Spells exchanges as HTTP/1.1: those of HTTP/1 byte for byte, but for where chunks were cut.
struct HTTP1LegWriter {
    /// By `Direction.rawValue`: whether the message that is being written is in chunks.
    private var isChunked: [2 of Bool] = [false, false]
    /// Whether the contents are left out, and the heads say so.
    let isWithoutContent: Bool

    init(isWithoutContent: Bool) {
        self.isWithoutContent = isWithoutContent
    }

    /// - Parameter size: of the content that follows, in bytes.
    mutating func head(
        _ head: [UInt8], _ direction: Direction, hasContent: Bool
    ) -> [UInt8] {
        let text = RecordedHead(head)
        isChunked[direction.rawValue] = text.isChunked && !isWithoutContent
        guard text.isHTTP2 || isWithoutContent else { return head }
        var result = startLine(text, direction)
        let framing = text.isChunked || text.first(named: "content-length") != nil
        for field in text.fields where field.name.first != 0x3A {
            let isFraming =
                field.name.equalsIgnoringCase("content-length")
                || field.name.equalsIgnoringCase("transfer-encoding")
            if isWithoutContent, isFraming { result += [UInt8]("Recorded-".utf8) }
            result += field.name + [0x3A, 0x20] + field.value + [0x0D, 0x0A]
        }
        let isFinal = direction == .request || text.status >= 200
        if isWithoutContent, isFinal, hasContent || framing {
            result += [UInt8]("Content-Length: 0\r\n".utf8)
        } else if hasContent, !framing {
            // The end of a stream ends a message of HTTP/2 without any field.
            result += [UInt8]("Transfer-Encoding: chunked\r\n".utf8)
            isChunked[direction.rawValue] = true
        } else if isFinal, !framing, direction == .response, text.status != 204,
            text.status != 304
        {
            result += [UInt8]("Content-Length: 0\r\n".utf8)
        }
        return result + [0x0D, 0x0A]
    }

    func content(_ bytes: [UInt8], _ direction: Direction) -> [UInt8] {
        guard !isWithoutContent, !bytes.isEmpty else { return [] }
        guard isChunked[direction.rawValue] else { return bytes }
        let size = [UInt8](String(bytes.count, radix: 16).utf8) + [0x0D, 0x0A]
        return size + bytes + [0x0D, 0x0A]
    }

    mutating func end(_ direction: Direction, trailers: [UInt8]) -> [UInt8] {
        guard isChunked[direction.rawValue] else { return [] }
        isChunked[direction.rawValue] = false
        return [0x30, 0x0D, 0x0A] + (trailers.isEmpty ? [0x0D, 0x0A] : trailers)
    }

    /// The first line as HTTP/1.1 has it.
    private func startLine(_ text: RecordedHead, _ direction: Direction) -> [UInt8] {
        let end: [UInt8] = [0x0D, 0x0A]
        guard text.isHTTP2 else { return [UInt8](text.startLine) + end }
        if direction == .request {
            return [UInt8](text.startLine.dropLast(8)) + [UInt8]("HTTP/1.1".utf8) + end
        }
        let reason = reasonPhrase(of: text.status)
        return [UInt8]("HTTP/1.1 \(text.status) \(reason)".utf8) + end
    }
}
