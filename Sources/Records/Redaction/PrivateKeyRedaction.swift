internal import Base
internal import Contents

/// Masks private keys in PEM, whatever form the text has that they stand in.
enum PrivateKeyRedaction {
    static func redact(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var place = 0
        while let characters = PrivateKeyText.characters(in: text, from: place) {
            result += text[place..<characters.lowerBound] + redactionMark
            place = characters.upperBound
        }
        return place == 0 ? text : result + text[place...]
    }
}
