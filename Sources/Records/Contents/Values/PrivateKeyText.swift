internal import Base

/// A private key of a certificate or of SSH in PEM (RFC 7468 §10), wherever it stands in a text.
package enum PrivateKeyText {
    /// Where the key's characters stand, between its labels; `nil` if there is no key from `start` on.
    ///
    /// The labels alone are in every manual: there has to be a line of Base64 behind them.
    package static func characters(in text: [UInt8], from start: Int = 0) -> Range<Int>? {
        var place = start
        while let label = text.firstIndex(ofRun: labelStart, from: place) {
            place = label + labelStart.count
            let head = Array(text[place..<min(text.count, place + headLimit)])
            guard let kind = head.firstIndex(ofRun: labelKind, from: 0),
                let end = head.firstIndex(ofRun: labelEnd, from: kind)
            else { continue }
            let first = place + end + labelEnd.count
            let part = Array(text[first..<min(text.count, first + keyLimit)])
            let last = part.firstIndex(ofRun: labelEnd, from: 0) ?? part.count
            if holdsLine(part[..<last]) { return first..<first + last }
        }
        return nil
    }

    private static func holdsLine(_ part: ArraySlice<UInt8>) -> Bool {
        var length = 0
        for byte in part {
            let isBase64 =
                byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: "/")
            length = isBase64 ? length + 1 : 0
            if length >= lineLength { return true }
        }
        return false
    }

    private static let labelStart = Array("-----BEGIN ".utf8)
    private static let labelKind = Array("PRIVATE KEY".utf8)
    private static let labelEnd = Array("-----".utf8)
    /// Of the label behind its first word, in bytes: `OPENSSH PRIVATE KEY-----`.
    private static let headLimit = 48
    private static let keyLimit = 1 << 14
    /// In characters; keys are written in lines of 64 or 70, and no word of prose is so long.
    private static let lineLength = 40
}
