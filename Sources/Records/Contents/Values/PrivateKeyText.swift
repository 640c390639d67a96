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
            if let count = length(of: text[first..<min(text.count, first + keyLimit)]) {
                return first..<first + count
            }
        }
        return nil
    }

    /// How long the key is that a text begins with, behind lines of fields (RFC 1421 §4.6); `nil` if it
    /// begins with none.
    private static func length(of text: ArraySlice<UInt8>) -> Int? {
        var place = skippedSpace(text, from: text.startIndex)
        for _ in 0..<fieldLimit {
            let line = text[place...].prefix { $0 > 0x20 && $0 != UInt8(ascii: "\\") }
            guard line.last == UInt8(ascii: ":") else { break }
            let end = text[line.endIndex...].firstIndex {
                $0 == 0x0A || $0 == 0x0D || $0 == UInt8(ascii: "\\")
            }
            guard let end else { return nil }
            place = skippedSpace(text, from: end)
        }
        let line = text[place...].prefix(while: isBase64)
        guard line.count >= lineLength, Set(line).count > 4 else { return nil }
        while place < text.endIndex {
            let next = skippedSpace(text, from: place)
            guard next < text.endIndex, isBase64(text[next]) else { break }
            place = next + text[next...].prefix(while: isBase64).count
        }
        return place - text.startIndex
    }

    /// Past white space, and line ends as they are written in JSON.
    private static func skippedSpace(_ text: ArraySlice<UInt8>, from start: Int) -> Int {
        var place = start
        while place < text.endIndex {
            if text[place] <= 0x20 {
                place += 1
            } else if text[place] == UInt8(ascii: "\\"), place + 1 < text.endIndex,
                text[place + 1] == UInt8(ascii: "n") || text[place + 1] == UInt8(ascii: "r")
            {
                place += 2
            } else {
                break
            }
        }
        return place
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }

    private static let fieldLimit = 4
    private static let labelStart = Array("-----BEGIN ".utf8)
    private static let labelKind = Array("PRIVATE KEY".utf8)
    private static let labelEnd = Array("-----".utf8)
    /// Of the label behind its first word, in bytes: `OPENSSH PRIVATE KEY-----`.
    private static let headLimit = 48
    private static let keyLimit = 1 << 14
    /// In characters; keys are written in lines of 64 or 70, and no word of prose is so long.
    private static let lineLength = 40
}
