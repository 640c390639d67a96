internal import HTTPCodecs

/// Tells from how a side begins whether it asks or answers.
enum SpeakingSide {
    case client
    case origin

    /// - Returns: `nil` for what either side may say, or for too few bytes.
    static func of(_ bytes: [UInt8]) -> SpeakingSide? {
        guard let first = bytes.first else { return nil }
        if TLSReading.isBegun(by: bytes), bytes.count > 5 {
            return bytes[5] == 1 ? .client : bytes[5] == 2 ? .origin : nil
        }
        if bytes.starts(with: HTTP2DirectionReader.preface.prefix(16)) { return .client }
        let answers = ["HTTP/1.", "RTSP/1.0 ", "SIP/2.0 ", "+OK", "-ERR ", "* OK", "* PREAUTH"]
        if answers.contains(where: { bytes.starts(with: $0.utf8) }) { return .origin }
        // A reply of mail, FTP and news (RFC 5321 §4.2).
        let code = bytes.prefix(3)
        if (0x31...0x35).contains(first), code.count == 3,
            code.allSatisfy({ (0x30...0x39).contains($0) }), bytes.count > 3,
            bytes[3] == 0x20 || bytes[3] == 0x2D
        {
            return .origin
        }
        return RequestOpening.judge(bytes.span) == true ? .client : nil
    }

    /// Whether more bytes may tell.
    static func mayTurnOut(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, bytes.count < waitLimit else { return false }
        if first == 22 { return bytes.count < 6 }
        return RequestOpening.judge(bytes.span) == nil
    }

    /// In bytes: a first line that is longer is no request's.
    private static let waitLimit = 8192
}
